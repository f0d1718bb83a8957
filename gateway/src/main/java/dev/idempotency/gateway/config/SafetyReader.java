package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.BodyMode;
import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** Reads what keeps a route's records, and how its duplicates wait. */
final class SafetyReader {

  private static final int MOST_REPLICAS = 16;
  private static final Format<Duration> GUARD = Formats.duration("0s", "1h", "30s");
  private static final Format<Duration> LONGEST = Formats.duration("0s", "5m", "30s");
  private static final Format<Durability> DURABILITY =
      Format.text(
          "none, disk, { replicas: 1 } or { disk: true }",
          text ->
              switch (text) {
                case "none" -> Optional.of(Durability.NONE);
                case "disk" -> Optional.of(Durability.disk(false));
                default -> Optional.empty();
              });

  private final Section route;
  private final SecretReader secrets;
  private final Problems problems;

  SafetyReader(Section route, SecretReader secrets, Problems problems) {
    this.route = route;
    this.secrets = secrets;
    this.problems = problems;
  }

  /**
   * @param path the route's
   * @param upstream the route's, which is asked where the probe names none
   */
  Safety safety(
      UnknownPolicy unknown,
      String path,
      String upstream,
      Set<String> upstreams,
      BodyMode requestMode) {
    Safety defaults = Safety.NONE;
    return new Safety(
        route.one("durability", DURABILITY, this::durability).orElse(defaults.durability()),
        route.get("guard", GUARD, defaults.guard()),
        new ProbeReader(route, secrets, problems)
            .read(unknown, path, upstream, upstreams, requestMode));
  }

  private Optional<Durability> durability(Section section) {
    try (section) {
      int replicas = section.get("replicas", Formats.integer(1, MOST_REPLICAS), 0);
      boolean disk = section.get("disk", Formats.TRUTH, false);
      boolean completions = section.get("completions", Formats.TRUTH, false);
      if (section.has("replicas") && section.has("disk")) {
        problems.add(section.path("disk"), "given beside replicas", "one of replicas and disk");
      } else if (!section.has("replicas") && !disk) {
        problems.add(section.path(), "no level", "replicas: 1 or more, or disk: true");
      }
      if (disk) {
        return Optional.of(Durability.disk(completions));
      }
      // A wrong number is a problem already.
      return replicas == 0
          ? Optional.empty()
          : Optional.of(Durability.replicas(replicas, completions));
    }
  }

  Waiting waiting() {
    Waiting defaults = Defaults.ROUTE.waiting();
    Duration patience = route.get("in-flight", Formats.IN_FLIGHT, defaults.patience());
    try (Section waiting = route.section("waiting")) {
      Optional<Duration> longest = waiting.find("longest", LONGEST);
      if (longest.isPresent() && longest.get().compareTo(patience) < 0) {
        problems.add(
            waiting.path("longest"),
            Durations.print(longest.get()),
            "at least what in-flight says, which is wait " + Durations.print(patience));
      }
      Duration byDefault =
          patience.compareTo(defaults.longest()) > 0 ? patience : defaults.longest();
      return new Waiting(
          patience,
          longest.orElse(byDefault),
          waiting.get("per-key", Formats.integer(1, 100_000), defaults.perKey()));
    }
  }
}
