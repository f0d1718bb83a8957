package dev.idempotency.gateway.store.redis;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the records are and how long to wait for them.
 *
 * @param url {@code redis://[user:password@]host[:port][/database]}, {@code rediss://…} for TLS, or
 *     {@code redis-sentinel://[user:password@]host[:port][,host[:port]…][/database]#primary}, or
 *     {@code redis-cluster://[user:password@]host[:port][,host[:port]…]}; what is special in a URL
 *     is percent-encoded
 * @param prefix begins the name of each key; without braces, which would put all operations into
 *     one slot of a cluster
 * @param deadline how long a command may take, from 1 ms to 1 min
 * @param access secrets that do not stand in the URL, and what TLS is made of
 */
public record RedisStoreOptions(String url, String prefix, Duration deadline, RedisAccess access) {

  public static final String DEFAULT_PREFIX = "idem:";
  public static final Duration DEFAULT_DEADLINE = Duration.ofMillis(500);

  private static final String FORM =
      "expected: redis://[user:password@]host[:port][/database], rediss:// for TLS,"
          + " redis-sentinel://host[:port],…#primary, redis-cluster://host[:port],…;"
          + " special characters percent-encoded";
  private static final Set<String> SINGLE = Set.of("redis", "rediss");
  private static final Pattern HAS_PASSWORD = Pattern.compile("//[^/@]+@");
  private static final Duration LONGEST = Duration.ofMinutes(1);

  /**
   * Checks all of it.
   *
   * @throws IllegalArgumentException naming what was expected, never repeating the URL, which may
   *     hold a password
   */
  public RedisStoreOptions {
    checkUrl(url);
    if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
      throw new IllegalArgumentException(
          "prefix " + prefix + " (expected: no braces, they would gather all keys in one slot)");
    }
    if (deadline.toMillis() < 1 || deadline.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("deadline " + deadline + " (expected: 1 ms to 1 min)");
    }
    if (access.tls() != null && !url.startsWith("rediss")) {
      throw new IllegalArgumentException(
          "tls for a URL without TLS (expected: rediss://, rediss-sentinel://, rediss-cluster://)");
    }
    if (access.password() != null && HAS_PASSWORD.matcher(url).find()) {
      throw new IllegalArgumentException(
          "a password in the URL and another beside it (expected: one of them)");
    }
  }

  /** With everything in the URL. */
  public RedisStoreOptions(String url, String prefix, Duration deadline) {
    this(url, prefix, deadline, RedisAccess.NONE);
  }

  /** With the default prefix and deadline. */
  public static RedisStoreOptions of(String url) {
    return new RedisStoreOptions(url, DEFAULT_PREFIX, DEFAULT_DEADLINE);
  }

  public RedisStoreOptions withPrefix(String prefix) {
    return new RedisStoreOptions(url, prefix, deadline, access);
  }

  public RedisStoreOptions withDeadline(Duration deadline) {
    return new RedisStoreOptions(url, prefix, deadline, access);
  }

  public RedisStoreOptions withAccess(RedisAccess access) {
    return new RedisStoreOptions(url, prefix, deadline, access);
  }

  Location location() {
    return Location.of(url, access);
  }

  private static void checkUrl(String url) {
    if (url.startsWith("redis-sentinel://") || url.startsWith("rediss-sentinel://")) {
      require(url.indexOf('#') > url.indexOf("://") + 3 && !url.endsWith("#"));
      require(isUnderstood(url));
      return;
    }
    if (Location.isCluster(url)) {
      require(isUnderstood(url));
      return;
    }
    URI uri = parsed(url);
    require(uri != null && uri.getScheme() != null && SINGLE.contains(uri.getScheme()));
    require(uri != null && uri.getHost() != null && uri.getPort() != 0 && uri.getPort() < 65_536);
    require(uri != null && isDatabase(uri.getPath()) && uri.getFragment() == null);
    require(isUnderstood(url));
  }

  private static boolean isUnderstood(String url) {
    try {
      return Location.of(url, RedisAccess.NONE) != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static @Nullable URI parsed(String url) {
    try {
      return new URI(url);
    } catch (URISyntaxException e) {
      return null;
    }
  }

  private static boolean isDatabase(@Nullable String path) {
    return path == null || path.matches("/?|/\\d{1,5}");
  }

  private static void require(boolean wellFormed) {
    if (!wellFormed) {
      throw new IllegalArgumentException("not a Redis URL (" + FORM + ")");
    }
  }

  /** Without the user and the password. */
  @Override
  public String toString() {
    return url.replaceFirst("//[^/]*@", "//***@") + ", prefix " + prefix + ", " + deadline;
  }
}
