package dev.idempotency.gateway.config;

import org.jspecify.annotations.Nullable;

/** Reads who may look at operations and resolve them. */
final class OperatorsReader {

  private final SecretReader secrets;
  private final Problems problems;

  OperatorsReader(SecretReader secrets, Problems problems) {
    this.secrets = secrets;
    this.problems = problems;
  }

  @Nullable Operators read(Section file) {
    try (Section section = file.section("operators")) {
      OutsideSecret read = secrets.outside(section, "read", Secret.MIN_LENGTH);
      OutsideSecret write = secrets.outside(section, "write", Secret.MIN_LENGTH);
      boolean bodies = section.get("bodies", Formats.TRUTH, false);
      if (!file.has("operators")) {
        return null;
      }
      if (section.isMapping() && !section.has("read") && !section.has("write")) {
        problems.add(section.path(), "no token", "read or write, such as read: { env: OPS_READ }");
      }
      if (read != null && write != null && read.value().equals(write.value())) {
        problems.add(
            section.path("write"),
            "the same token as read",
            "another one, as whoever looks could else resolve");
      }
      return new Operators(read, write, bodies);
    }
  }
}
