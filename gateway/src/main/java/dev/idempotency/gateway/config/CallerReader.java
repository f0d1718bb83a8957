package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.ForwardAuth.OnFailure;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads what a route wants to know of its callers, and what it lets them do. */
final class CallerReader {

  private static final Format<Integer> COUNT = Formats.integer(0, 1_000_000);
  private static final Format<Duration> WITHIN = Formats.duration("1s", "24h", "1m");
  private static final Format<Duration> TIMEOUT = Formats.duration("1ms", "1m", "1s");
  private static final Format<Duration> CACHE = Formats.duration("0s", "1h", "5s");
  private static final Format<OnFailure> ON_FAILURE = Formats.choice(OnFailure.class, "");

  private final Section route;
  private final Problems problems;

  CallerReader(Section route, Problems problems) {
    this.route = route;
    this.problems = problems;
  }

  @Nullable Quota quota() {
    Quota defaults = Defaults.QUOTA;
    try (Section quota = route.section("quota")) {
      if (!route.has("quota")) {
        return null;
      }
      int newKeys = quota.get("new-keys", COUNT, defaults.newKeys());
      Duration within = quota.get("within", WITHIN, defaults.within());
      int unfinished = quota.get("unfinished", COUNT, defaults.unfinished());
      // Where it is no mapping, that is a problem already.
      if (newKeys == 0 && unfinished == 0 && quota.isMapping()) {
        problems.add(quota.path(), "no limit", "new-keys or unfinished above 0");
      }
      return new Quota(newKeys, within, unfinished);
    }
  }

  @Nullable ForwardAuth forwardAuth(Set<String> upstreams) {
    ForwardAuth defaults = Defaults.FORWARD_AUTH;
    try (Section auth = route.section("forward-auth")) {
      if (!route.has("forward-auth")) {
        return null;
      }
      return new ForwardAuth(
          auth.require("upstream", RouteReader.oneOf(upstreams), defaults.upstream()),
          auth.require("path", IdentityFormats.AUTH_PATH, defaults.path()),
          auth.get("timeout", TIMEOUT, defaults.timeout()),
          auth.get("cache", CACHE, defaults.cache()),
          auth.get("on-failure", ON_FAILURE, defaults.onFailure()),
          auth.list("copy", Formats.HEADER).map(Formats::smallLetters).orElse(defaults.copy()));
    }
  }
}
