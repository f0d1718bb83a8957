package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.BodyMode;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads how an upstream is asked about operations whose outcome is unknown. */
final class ProbeReader {

  private static final Format<String> URL =
      Formats.matching(
          "(?=.{1,1024}$)/(?:[!\"$-z|~]|\\{[A-Za-z][A-Za-z0-9_-]*})*",
          "a path such as /orders/by-key/{key}");
  private static final Format<String> SAME =
      Format.text("same", text -> Optional.of(text).filter("same"::equals));
  private static final Format<Duration> TIMEOUT = Formats.duration("10ms", "1m", "2s");
  private static final Format<Duration> GRACE = Formats.duration("0s", "1h", "10s");
  private static final Format<Duration> BACK_OFF = Formats.duration("10ms", "1h", "1s");
  private static final Format<Duration> LONGEST = Formats.duration("10ms", "24h", "5m");
  private static final Format<Integer> STATUS = Formats.integer(200, 599);
  private static final Format<Probe.OnNever> ON_NEVER = Formats.choice(Probe.OnNever.class, "");

  private final Section route;
  private final SecretReader secrets;
  private final Problems problems;

  ProbeReader(Section route, SecretReader secrets, Problems problems) {
    this.route = route;
    this.secrets = secrets;
    this.problems = problems;
  }

  @Nullable Probe read(
      UnknownPolicy unknown,
      String path,
      String upstream,
      Set<String> upstreams,
      BodyMode requestMode) {
    try (Section probe = route.section("probe")) {
      boolean wanted = unknown == UnknownPolicy.PROBE;
      if (wanted && !route.has("probe")) {
        problems.add(
            route.path("probe"),
            "missing",
            "how the upstream is asked, such as { url: \"/orders/by-key/{key}\" }, as the route"
                + " says unknown: probe");
      } else if (!wanted && route.has("probe")) {
        problems.add(
            route.path("probe"),
            "given beside unknown: " + Formats.print(unknown),
            "unknown: probe, or no probe");
      }
      Probe read = probe(probe, path, upstream, upstreams, requestMode);
      return wanted && route.has("probe") ? read : null;
    }
  }

  private Probe probe(
      Section probe, String path, String upstream, Set<String> upstreams, BodyMode requestMode) {
    Probe defaults = Defaults.PROBE;
    Optional<String> url = url(probe, path);
    String asked = probe.get("upstream", RouteReader.oneOf(upstreams), upstream);
    same(probe, requestMode, !asked.equals(upstream));
    Set<Integer> completed = statuses(probe, "completed", defaults.completed());
    Set<Integer> never = statuses(probe, "never", defaults.never());
    for (Integer status : completed) {
      if (status == 206 || status == 304) {
        problems.add(
            probe.path("completed"), status.toString(), "a status whose answer has a whole body");
      }
    }
    for (Integer status : never) {
      if (completed.contains(status)) {
        problems.add(
            probe.path("never"), status.toString(), "a status that completed does not have");
      }
    }
    Duration backOff = probe.get("back-off", BACK_OFF, defaults.backOff());
    Duration longest = probe.get("longest", LONGEST, defaults.longest());
    if (longest.compareTo(backOff) < 0) {
      problems.add(
          probe.path("longest"),
          Durations.print(longest),
          "at least back-off, which is " + Durations.print(backOff));
    }
    return new Probe(
        url.orElse(null),
        asked,
        probe.get("timeout", TIMEOUT, defaults.timeout()),
        completed,
        never,
        probe.get("on-never", ON_NEVER, defaults.onNever()),
        probe.get("grace", GRACE, defaults.grace()),
        probe.get("status", STATUS, defaults.status()),
        headers(probe),
        backOff,
        longest);
  }

  /** What the question would be the same for all operations without, and what nobody could fill. */
  private Optional<String> url(Section probe, String path) {
    Optional<String> url = probe.find("url", URL);
    if (probe.isMapping() && probe.has("url") == probe.has("request")) {
      problems.add(
          probe.path(), probe.has("url") ? "url and request" : "neither", "one of url and request");
    }
    List<String> known = new ArrayList<>(Probe.names(path));
    if (url.isPresent() && known.contains(Probe.KEY)) {
      problems.add(
          probe.path("url"),
          "the route's path has a {key} of its own",
          "another name there, as {key} stands for the client's key");
    }
    known.add(Probe.KEY);
    List<String> names = url.map(Probe::names).orElse(List.of());
    if (url.isPresent() && names.isEmpty()) {
      problems.add(
          probe.path("url"), url.get(), "a name in braces, as operations are told apart by it");
    }
    for (String name : names) {
      if (!known.contains(name)) {
        problems.add(probe.path("url"), "{" + name + "}", Formats.alternatives(braced(known)));
      }
    }
    return url;
  }

  private static List<String> braced(List<String> names) {
    return names.stream().map(name -> "{" + name + "}").toList();
  }

  private void same(Section probe, BodyMode requestMode, boolean elsewhere) {
    boolean same = probe.find("request", SAME).isPresent();
    if (same && elsewhere) {
      problems.add(
          probe.path("request"),
          "same, to another upstream than the route's",
          "url, as another service could execute the request and is not to see its credentials");
    }
    if (same && requestMode == BodyMode.STREAM) {
      problems.add(
          probe.path("request"),
          "same, in a route whose requests stream",
          "url, as a body that streamed is gone");
    }
  }

  private static Set<Integer> statuses(Section probe, String key, Set<Integer> byDefault) {
    return probe.list(key, STATUS).<Set<Integer>>map(LinkedHashSet::new).orElse(byDefault);
  }

  private Map<String, OutsideSecret> headers(Section probe) {
    Map<String, OutsideSecret> headers = new LinkedHashMap<>();
    try (Section section = probe.section("headers")) {
      for (String name : section.keys()) {
        if (!Formats.isEndToEndField(name)) {
          problems.add(
              section.path(), Messages.show(name), "names of " + Formats.HEADER.expected());
        }
        OutsideSecret value = secrets.fieldValue(section, name);
        if (value != null) {
          headers.put(name, value);
        }
      }
    }
    return headers;
  }
}
