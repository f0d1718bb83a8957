package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.Durability;
import java.time.Duration;
import java.util.Set;

/**
 * What the routes want of Redis, besides that it keeps their records.
 *
 * @param durabilities how sure their writes must be; what is not named here works too, its
 *     connection is made at the first such write
 * @param guarded whether a route wants to know when records may have been forgotten
 * @param checks how often the server is looked at; zero: never
 */
public record RedisDemands(Set<Durability> durabilities, boolean guarded, Duration checks) {

  /** Nothing more. */
  public static final RedisDemands NONE = new RedisDemands(Set.of(), false, Duration.ZERO);

  public RedisDemands {
    durabilities = Set.copyOf(durabilities);
  }

  /** The same, looked at that often. */
  public RedisDemands withChecks(Duration every) {
    return new RedisDemands(durabilities, guarded, every);
  }
}
