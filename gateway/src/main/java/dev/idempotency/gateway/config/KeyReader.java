package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.BodyMode;
import dev.idempotency.gateway.config.RouteKey.Form;
import dev.idempotency.gateway.config.RouteKey.Source;
import dev.idempotency.gateway.config.RouteKey.Syntax;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads where a route's keys come from and what they must be. */
final class KeyReader {

  private static final RouteKey DEFAULTS = Defaults.KEY;
  private static final String SOURCES = "one of header, pointer, query and sources";
  private static final Format<Syntax> SYNTAX = Formats.choice(Syntax.class, "");
  private static final Format<Duration> SKEW = Formats.duration("0s", "1h", "1m");
  private static final Format<Duration> DERIVE = Formats.duration("1s", "24h", "10s");

  private final Section route;
  private final Section key;
  private final Problems problems;

  private KeyReader(Section route, Section key, Problems problems) {
    this.route = route;
    this.key = key;
    this.problems = problems;
  }

  static RouteKey read(Section route, Problems problems) {
    try (Section key = route.section("key")) {
      return new KeyReader(route, key, problems).read();
    }
  }

  private RouteKey read() {
    List<Source> sources = sources();
    Form form = key.get("pattern", IdentityFormats.FORM, DEFAULTS.form());
    boolean timeBound = key.get("time-bound", Formats.TRUTH, DEFAULTS.timeBound());
    String firstSent = key.find("first-sent", Formats.HEADER).orElse(DEFAULTS.firstSent());
    RouteKey read =
        new RouteKey(
            sources,
            key.get("syntax", SYNTAX, DEFAULTS.syntax()),
            form,
            timeBound,
            firstSent,
            key.get("skew", SKEW, DEFAULTS.skew()),
            key.get("derive", DERIVE, DEFAULTS.derive()));
    age(read, firstSent);
    return read;
  }

  private List<Source> sources() {
    List<Source> found = new ArrayList<>();
    key.find("header", Formats.HEADER).map(Source.Header::new).ifPresent(found::add);
    key.find("pointer", Formats.POINTER).map(Source.Pointer::new).ifPresent(found::add);
    key.find("query", IdentityFormats.PARAMETER).map(Source.Query::new).ifPresent(found::add);
    Optional<List<Source>> several = key.list("sources", IdentityFormats.SOURCE);
    several.ifPresent(found::addAll);
    List<String> given =
        Stream.of("header", "pointer", "query", "sources").filter(key::has).toList();
    if (key.isEmptyMapping() && route.has("key")) {
      problems.add(key.path(), "empty", "{ header: Idempotency-Key }");
    } else if (key.isMapping() && given.isEmpty()) {
      problems.add(key.path(), "no source of keys", SOURCES);
    } else if (given.size() > 1) {
      problems.add(key.path(), String.join(" and ", given), SOURCES);
    }
    several.ifPresent(this::distinct);
    return found.isEmpty() ? DEFAULTS.sources() : found;
  }

  private void distinct(List<Source> sources) {
    List<String> seen = new ArrayList<>();
    for (Source source : sources) {
      String text = source.toString();
      // Only the names of header fields are the same in every case.
      String folded = source instanceof Source.Header ? text.toLowerCase(Locale.ROOT) : text;
      if (seen.contains(folded)) {
        problems.add(key.path("sources"), text + " twice", "each source once");
      }
      seen.add(folded);
    }
  }

  private void age(RouteKey read, @Nullable String firstSent) {
    if (read.timeBound() && firstSent != null) {
      problems.add(
          key.path("first-sent"),
          "given beside time-bound: true",
          "one of the two, as a key is of one age");
    } else if (read.timeBound() && !read.form().hasTime()) {
      problems.add(
          key.path("time-bound"),
          "true",
          "pattern: uuid7 or ulid beside it, as other keys have no time");
    } else if (key.has("skew") && !read.hasAge()) {
      problems.add(
          key.path("skew"),
          Durations.print(read.skew()),
          "time-bound or first-sent beside it, as other keys have no age");
    }
  }

  /** What the key can be only beside the rest of the route. */
  static void look(
      Section route,
      RouteKey key,
      List<Scope> scope,
      BodyMode mode,
      Duration retention,
      Problems problems) {
    String path = route.path("key");
    boolean derives = !key.derive().isZero();
    if (key.isInBody() && mode == BodyMode.STREAM) {
      problems.add(
          path,
          "in the body",
          "request: { mode: buffer }, as a body that streams is gone before it is read");
    }
    if (derives && mode == BodyMode.STREAM) {
      problems.add(
          path + ".derive",
          Durations.print(key.derive()),
          "request: { mode: buffer }, as a key is derived from the whole body");
    }
    if (derives && scope.isEmpty()) {
      problems.add(
          path + ".derive",
          Durations.print(key.derive()),
          "a scope in this route, as equal requests of two callers would be one operation");
    }
    if (key.derive().compareTo(retention) > 0) {
      problems.add(
          path + ".derive",
          Durations.print(key.derive()),
          "at most the retention, which is " + Durations.print(retention));
    }
    if (key.hasAge() && key.skew().multipliedBy(2).compareTo(retention) >= 0) {
      problems.add(
          route.path("retention"),
          Durations.print(retention),
          "more than twice the key's skew, which is " + Durations.print(key.skew()));
    }
  }
}
