package dev.idempotency.gateway.store.redis;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a store's URL says, and how a server that it leads to is spoken to. */
final class Location {

  /** Who is at the other end. */
  enum Kind {
    /** One server, for ever. */
    SERVER,
    /** Whoever the sentinels say is the primary. */
    SENTINELS,
    /** The masters of a Cluster. */
    CLUSTER
  }

  private static final String PLACE = "(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::[0-9]{1,5})?";

  /** Scheme, user info with its at sign, places, rest. */
  private static final Pattern CLUSTER =
      Pattern.compile(
          "redis(s?)-cluster://((?:[^@/?#]*@)?)("
              + PLACE
              + "(?:,"
              + PLACE
              + ")*)((?:/0?)?(?:\\?.*)?)");

  private static final Pattern COMMA = Pattern.compile(",");

  private final Kind kind;
  private final List<RedisURI> seeds;
  private final RedisURI pattern;
  private final RedisAccess access;

  private Location(Kind kind, List<RedisURI> seeds, RedisURI pattern, RedisAccess access) {
    this.kind = kind;
    this.seeds = seeds;
    this.pattern = pattern;
    this.access = access;
  }

  static boolean isCluster(String url) {
    return url.startsWith("redis-cluster:") || url.startsWith("rediss-cluster:");
  }

  /**
   * Reads the URL.
   *
   * @throws IllegalArgumentException if it can't be read; never repeats it
   */
  static Location of(String url, RedisAccess access) {
    if (isCluster(url)) {
      List<RedisURI> seeds = clusterSeeds(url);
      return new Location(Kind.CLUSTER, seeds, seeds.get(0), access);
    }
    RedisURI uri = RedisURI.create(url);
    return uri.getSentinels().isEmpty()
        ? new Location(Kind.SERVER, List.of(uri), uri, access)
        : new Location(Kind.SENTINELS, uri.getSentinels(), uri, access);
  }

  private static List<RedisURI> clusterSeeds(String url) {
    Matcher matcher = CLUSTER.matcher(url);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not the URL of a Cluster");
    }
    String start = "redis" + matcher.group(1) + "://" + matcher.group(2);
    return COMMA
        .splitAsStream(matcher.group(3))
        .map(place -> RedisURI.create(start + place + matcher.group(4)))
        .toList();
  }

  Kind kind() {
    return kind;
  }

  /** The servers, or sentinels, that the URL names. */
  List<Endpoint> seeds() {
    return seeds.stream().map(uri -> new Endpoint(uri.getHost(), uri.getPort())).toList();
  }

  /** How the sentinels call the primary. */
  String primaryName() {
    return pattern.getSentinelMasterId();
  }

  boolean isTls() {
    return pattern.isSsl();
  }

  /** How to connect to that server. */
  RedisURI server(Endpoint endpoint, Duration timeout) {
    RedisURI.Builder builder =
        builder(endpoint, timeout)
            .withDatabase(pattern.getDatabase())
            .withAuthentication(pattern.getCredentialsProvider());
    authenticate(builder, access.user(), access.password());
    return builder.build();
  }

  /** How to connect to that sentinel. */
  RedisURI sentinel(Endpoint endpoint, Duration timeout) {
    RedisURI.Builder builder = builder(endpoint, timeout);
    authenticate(builder, access.sentinelUser(), access.sentinelPassword());
    return builder.build();
  }

  private RedisURI.Builder builder(Endpoint endpoint, Duration timeout) {
    RedisURI.Builder builder =
        RedisURI.builder()
            .withHost(endpoint.host())
            .withPort(endpoint.port())
            .withSsl(pattern)
            .withTimeout(timeout);
    String name = pattern.getClientName();
    return name == null ? builder : builder.withClientName(name);
  }

  private static void authenticate(
      RedisURI.Builder builder, @Nullable String user, @Nullable String password) {
    if (password == null) {
      return;
    }
    if (user == null) {
      builder.withPassword(password);
    } else {
      builder.withAuthentication(user, password);
    }
  }
}
