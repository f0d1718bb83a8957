package dev.idempotency.gateway.store.redis;

import org.jspecify.annotations.Nullable;

/**
 * Who the gateway is to Redis, as far as the URL does not say so.
 *
 * @param user of the servers' ACL; null: the one of the URL, or the default user
 * @param password at the servers; null: the one of the URL, or none
 * @param sentinelUser at the sentinels, which have users of their own; null: the default user
 * @param sentinelPassword at the sentinels; null: none. The servers' password is never shown to
 *     them
 * @param tls what TLS needs besides the JVM's authorities; null: nothing
 */
public record RedisAccess(
    @Nullable String user,
    @Nullable String password,
    @Nullable String sentinelUser,
    @Nullable String sentinelPassword,
    @Nullable RedisTls tls) {

  /** Everything is in the URL. */
  public static final RedisAccess NONE = new RedisAccess(null, null, null, null, null);

  /**
   * Checks that there is no user without a password.
   *
   * @throws IllegalArgumentException naming what is missing
   */
  public RedisAccess {
    if (user != null && password == null) {
      throw new IllegalArgumentException("user without password (expected: both)");
    }
    if (sentinelUser != null && sentinelPassword == null) {
      throw new IllegalArgumentException("sentinel user without password (expected: both)");
    }
  }

  public RedisAccess withPassword(@Nullable String user, String password) {
    return new RedisAccess(user, password, sentinelUser, sentinelPassword, tls);
  }

  public RedisAccess withSentinelPassword(@Nullable String user, String password) {
    return new RedisAccess(this.user, this.password, user, password, tls);
  }

  public RedisAccess withTls(RedisTls tls) {
    return new RedisAccess(user, password, sentinelUser, sentinelPassword, tls);
  }

  /** Without names and secrets. */
  @Override
  public String toString() {
    return "RedisAccess["
        + (password == null ? "" : "password ")
        + (sentinelPassword == null ? "" : "sentinel password ")
        + (tls == null ? "" : "tls")
        + "]";
  }
}
