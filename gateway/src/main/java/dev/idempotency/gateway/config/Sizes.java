package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Parsed;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes as a whole number and a unit: {@code 512B}, {@code 64KiB}, {@code 1MiB}, {@code 10MB}. */
final class Sizes {

  private static final Pattern PATTERN =
      Pattern.compile("(\\d{1,9})(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)");

  private Sizes() {}

  /** Sizes in bytes from {@code min} to {@code max}, both inclusive. */
  static Format<Long> between(long min, long max, String example) {
    return Format.text(text -> parse(text, min, max, example));
  }

  /** Sizes up to {@code max}, or {@code 0}, with or without a unit. */
  static Format<Long> orNone(long max, String example) {
    Format<Long> sizes = between(1, max, example);
    return Format.anyKind(
        text -> {
          if (text.equals("0") || text.equals("0B")) {
            return new Parsed.Good<>(0L);
          }
          Parsed<Long> read = sizes.parser().apply(text);
          return read instanceof Parsed.Bad<Long> bad
              ? new Parsed.Bad<>(bad.expected() + ", or 0 for none")
              : read;
        });
  }

  private static Parsed<Long> parse(String text, long min, long max, String example) {
    Optional<Long> value = parse(text);
    if (value.isPresent() && value.get() > max) {
      return new Parsed.Bad<>("at most " + print(max));
    }
    boolean good = value.isPresent() && value.get() >= min;
    String bound = min > 1 ? " of at least " + print(min) : " > 0";
    return Format.orElseBad(
        good ? value : Optional.empty(), "a size" + bound + " such as " + example);
  }

  private static Optional<Long> parse(String text) {
    Matcher matcher = PATTERN.matcher(text);
    return matcher.matches()
        ? Optional.of(times(Long.parseLong(matcher.group(1)), bytes(matcher.group(2))))
        : Optional.empty();
  }

  /** What no long can hold is more than any limit. */
  private static long times(long count, long unit) {
    return count > Long.MAX_VALUE / unit ? Long.MAX_VALUE : count * unit;
  }

  private static long bytes(String unit) {
    return switch (unit) {
      case "KB" -> 1_000L;
      case "MB" -> 1_000_000L;
      case "GB" -> 1_000_000_000L;
      case "TB" -> 1_000_000_000_000L;
      case "KiB" -> 1L << 10;
      case "MiB" -> 1L << 20;
      case "GiB" -> 1L << 30;
      case "TiB" -> 1L << 40;
      default -> 1L;
    };
  }

  /** The shortest text in binary units that reads as the same size. */
  static String print(long size) {
    for (String unit : new String[] {"TiB", "GiB", "MiB", "KiB"}) {
      if (size != 0 && size % bytes(unit) == 0) {
        return size / bytes(unit) + unit;
      }
    }
    return size + "B";
  }
}
