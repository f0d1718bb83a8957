package dev.idempotency.gateway.store.postgres;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where the records are and how long to wait for them.
 *
 * @param url {@code
 *     postgresql://[user[:password]@]host[:port][,host[:port]…]/database[?name=value]}, see {@link
 *     PostgresUrl}
 * @param user the account, before the one in the URL; null where the URL names it
 * @param password its password, before the one in the URL; null where the URL has it or none is
 *     needed
 * @param deadline how long a command may take, from 1 ms to 1 min
 * @param pool how many connections a gateway has, from 1 to 1000
 */
public record PostgresStoreOptions(
    String url, @Nullable String user, @Nullable String password, Duration deadline, int pool) {

  public static final Duration DEFAULT_DEADLINE = Duration.ofMillis(500);
  public static final int DEFAULT_POOL = 8;

  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);
  private static final int LARGEST_POOL = 1_000;

  /**
   * Checks all of it.
   *
   * @throws IllegalArgumentException naming what was expected, never repeating the URL, which may
   *     hold a password
   */
  public PostgresStoreOptions {
    PostgresUrl unused = PostgresUrl.parse(url);
    if (deadline.compareTo(SHORTEST) < 0 || deadline.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("timeout " + deadline + " (expected: 1 ms to 1 min)");
    }
    if (pool < 1 || pool > LARGEST_POOL) {
      throw new IllegalArgumentException("pool " + pool + " (expected: 1 to " + LARGEST_POOL + ")");
    }
  }

  /** With the default deadline and pool, and what the URL says. */
  public static PostgresStoreOptions of(String url) {
    return new PostgresStoreOptions(url, null, null, DEFAULT_DEADLINE, DEFAULT_POOL);
  }

  public PostgresStoreOptions withDeadline(Duration deadline) {
    return new PostgresStoreOptions(url, user, password, deadline, pool);
  }

  public PostgresStoreOptions withPool(int pool) {
    return new PostgresStoreOptions(url, user, password, deadline, pool);
  }

  public PostgresStoreOptions withLogin(@Nullable String user, @Nullable String password) {
    return new PostgresStoreOptions(url, user, password, deadline, pool);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return PostgresUrl.parse(url).masked() + ", " + deadline + ", " + pool + " connections";
  }
}
