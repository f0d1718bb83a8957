package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Rules of probes for tests: 200 is done, 404 never; a second, then two, four, eight. */
final class ProbeRules {

  static final Duration TIMEOUT = Duration.ofMillis(500);

  private ProbeRules() {}

  /** By its URL; what never happened is run again. */
  static ProbeRule url() {
    return rule("/by-key/{key}", Stage.ROUTES_OWN, true, Duration.ZERO, new Headers());
  }

  /** By the request itself. */
  static ProbeRule same() {
    return rule(null, Stage.ROUTES_OWN, true, Duration.ZERO, new Headers());
  }

  /** What never happened is only released. */
  static ProbeRule releasing(String... fields) {
    return rule("/by-key/{key}", Stage.ROUTES_OWN, false, Duration.ZERO, Headers.of(fields));
  }

  static ProbeRule after(Duration grace) {
    return rule("/by-key/{key}", Stage.ROUTES_OWN, true, grace, new Headers());
  }

  static ProbeRule asking(Upstream upstream, String... fields) {
    return rule("/by-key/{key}", upstream, true, Duration.ZERO, Headers.of(fields));
  }

  /** The same for an upstream. */
  static ProbeRule to(Upstream upstream, ProbeRule rule) {
    return rule(rule.url(), upstream, rule.rerun(), rule.grace(), rule.headers());
  }

  private static ProbeRule rule(
      @Nullable String url, Upstream upstream, boolean rerun, Duration grace, Headers headers) {
    return new ProbeRule(
        url,
        upstream,
        TIMEOUT,
        Set.of(200),
        Set.of(404),
        rerun,
        grace,
        201,
        headers,
        Duration.ofMillis(500),
        Duration.ofMillis(7_500));
  }
}
