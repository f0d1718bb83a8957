package dev.idempotency.gateway.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads one upstream. */
final class UpstreamReader {

  private static final Upstream DEFAULTS = Defaults.UPSTREAM;
  private static final Format<Duration> LIFE = Formats.duration("0s", "24h", "5m");
  private static final Format<Duration> RESOLVE = Formats.duration("1s", "1h", "30s");
  private static final Format<Duration> INTERVAL = Formats.duration("100ms", "1h", "5s");
  private static final Format<Integer> IN_A_ROW = Formats.integer(1, 100);

  private final Section upstream;
  private final SecretSource files;
  private final Problems problems;

  UpstreamReader(Section upstream, SecretSource files, Problems problems) {
    this.upstream = upstream;
    this.files = files;
    this.problems = problems;
  }

  Upstream read(String name) {
    List<UpstreamUrl> urls = urls();
    return new Upstream(
        name,
        urls.stream().map(UpstreamUrl::address).distinct().toList(),
        tls(urls),
        upstream.get("http2", Formats.TRUTH, DEFAULTS.http2()),
        upstream.get("connect-timeout", Formats.TIMEOUT, DEFAULTS.connectTimeout()),
        upstream.get("response-timeout", Formats.TIMEOUT, DEFAULTS.responseTimeout()),
        upstream.get("idle-timeout", Formats.TIMEOUT, DEFAULTS.idleTimeout()),
        upstream.get("connection-life", LIFE, DEFAULTS.connectionLife()),
        upstream.get("resolve", RESOLVE, DEFAULTS.resolve()),
        upstream.get("max-connections", Formats.integer(1, 65_535), DEFAULTS.maxConnections()),
        upstream.get("max-waiting", Formats.integer(0, 1_000_000), DEFAULTS.maxWaiting()),
        upstream.get("acquire-timeout", Formats.TIMEOUT, DEFAULTS.acquireTimeout()),
        ejection(),
        healthCheck());
  }

  /** One or more; one that stands for them where they are missing or wrong. */
  private List<UpstreamUrl> urls() {
    Optional<List<UpstreamUrl>> several = upstream.list("urls", Formats.UPSTREAM_URL);
    Optional<UpstreamUrl> one = upstream.find("url", Formats.UPSTREAM_URL);
    if (upstream.has("url") && upstream.has("urls")) {
      problems.add(upstream.path("urls"), "given beside url", "one of url and urls");
    } else if (!upstream.has("url") && !upstream.has("urls")) {
      problems.add(upstream.path("url"), "missing", Formats.UPSTREAM_URL.expected());
    }
    List<UpstreamUrl> urls = several.or(() -> one.map(List::of)).orElse(List.of());
    if (UpstreamUrl.isMixed(urls)) {
      problems.add(upstream.path("urls"), "http and https", "one scheme for all");
    }
    UpstreamUrl.repeated(urls)
        .ifPresent(url -> problems.add(upstream.path("urls"), url + " twice", "each address once"));
    return urls.isEmpty() ? List.of(UpstreamUrl.clear(DEFAULTS.addresses().get(0))) : urls;
  }

  private Upstream.@Nullable Tls tls(List<UpstreamUrl> urls) {
    boolean secure = urls.stream().allMatch(UpstreamUrl::tls);
    try (Section tls = upstream.section("tls")) {
      Optional<Path> authorities = files.file(tls, "ca", problems);
      Optional<Path> certificate = files.file(tls, "certificate", problems);
      Optional<Path> key = files.file(tls, "key", problems);
      Optional<String> serverName = tls.find("server-name", Formats.SERVER_NAME);
      if (tls.has("certificate") != tls.has("key")) {
        String missing = tls.has("key") ? "certificate" : "key";
        problems.add(tls.path(missing), "missing", "certificate and key, or none of them");
      }
      if (upstream.has("tls") && urls.stream().noneMatch(UpstreamUrl::tls)) {
        problems.add(upstream.path("tls"), "a mapping", "none, as the URL is not https");
      }
      return secure
          ? new Upstream.Tls(
              authorities.orElse(null),
              certificate.orElse(null),
              key.orElse(null),
              serverName.orElse(null))
          : null;
    }
  }

  private Upstream.Ejection ejection() {
    Upstream.Ejection defaults = DEFAULTS.ejection();
    try (Section ejection = upstream.section("ejection")) {
      return new Upstream.Ejection(
          ejection.get("failures", Formats.integer(0, 1000), defaults.failures()),
          ejection.get("time", Formats.TIMEOUT, defaults.time()));
    }
  }

  private Upstream.@Nullable HealthCheck healthCheck() {
    Upstream.HealthCheck defaults = Defaults.HEALTH_CHECK;
    try (Section check = upstream.section("health-check")) {
      if (!upstream.has("health-check")) {
        return null;
      }
      String path = check.require("path", Formats.HEALTH_PATH, defaults.path());
      Duration interval = check.get("interval", INTERVAL, defaults.interval());
      Duration timeout = check.get("timeout", Formats.TIMEOUT, defaults.timeout());
      if (timeout.compareTo(interval) > 0) {
        problems.add(
            check.path("timeout"),
            Durations.print(timeout),
            "at most the interval, which is " + Durations.print(interval));
      }
      return new Upstream.HealthCheck(
          path,
          interval,
          timeout,
          check.get("healthy", IN_A_ROW, defaults.healthy()),
          check.get("unhealthy", IN_A_ROW, defaults.unhealthy()));
    }
  }
}
