package dev.idempotency.gateway.config;

import dev.idempotency.gateway.http.PathRule;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a gateway is told, complete and valid. Immutable.
 *
 * @param listen where clients connect; one or more
 * @param admin where metrics, health and operations are served; never the public side
 * @param store where the records are
 * @param envelope how responses are put away there
 * @param sweepEvery how often operations that are overdue are looked for; 100 ms to 1 h, zero:
 *     never
 * @param operators who may look at operations and resolve them; null: nobody
 * @param drain how long requests in flight may take to end after SIGTERM; 0 to 1 h
 * @param drainDelay how long listeners stay open after readiness has gone; 0 to 10 min
 * @param threads number of event loops; 1 to 1024
 * @param secrets key the fingerprints' hash: the first makes fingerprints, all recognise them; none
 *     where they are hashed without a key
 * @param trustedProxies addresses and ranges, well-formed, of those whose word on the client is
 *     believed
 * @param hosts the hosts that requests may name, in small letters, IPv6 in brackets; none stands
 *     for any
 * @param paths which ambiguous paths are let through
 * @param limits what protects the gateway itself
 * @param log what is logged, and how
 * @param discovery whether everybody may read which routes take keys, and how
 * @param tokens how callers' tokens are verified; null where none are
 * @param upstreams by name, in the order of the file; one or more
 * @param routes in the order in which they are tried; one or more
 */
public record Configuration(
    List<Listener> listen,
    HostAndPort admin,
    Store store,
    Envelope envelope,
    Duration sweepEvery,
    @Nullable Operators operators,
    Duration drain,
    Duration drainDelay,
    int threads,
    List<Secret> secrets,
    List<String> trustedProxies,
    Set<String> hosts,
    PathRule paths,
    Limits limits,
    Log log,
    boolean discovery,
    @Nullable Tokens tokens,
    Map<String, Upstream> upstreams,
    List<Route> routes) {

  public Configuration {
    listen = List.copyOf(listen);
    secrets = List.copyOf(secrets);
    trustedProxies = List.copyOf(trustedProxies);
    hosts = Collections.unmodifiableSet(new LinkedHashSet<>(hosts));
    upstreams = Collections.unmodifiableMap(new LinkedHashMap<>(upstreams));
    routes = List.copyOf(routes);
  }

  /** Where the records are. */
  public sealed interface Store {

    /**
     * In this process: one gateway, and nothing survives a restart.
     *
     * @param maxBytes most bytes that all records together may take, 1 or more; beyond it new
     *     operations are refused
     */
    record Memory(long maxBytes) implements Store {}

    /**
     * In Redis 7 or later, or Valkey.
     *
     * @param url begins with {@code redis}, {@code redis-sentinel} or {@code redis-cluster}, or
     *     with {@code rediss…} for TLS; may hold a password
     * @param timeout the deadline of each command; 1 ms to 1 min
     * @param prefix what the names of all keys begin with
     * @param checks how often its settings are looked at; 1 s to 24 h
     * @param access what the URL does not say
     */
    record Redis(String url, Duration timeout, String prefix, Duration checks, StoreAccess access)
        implements Store {

      /** How many servers there are, and who says which of them has a record. */
      public enum Kind {
        SINGLE,
        SENTINEL,
        CLUSTER
      }

      public Kind kind() {
        String scheme = url.substring(0, url.indexOf("://"));
        return scheme.endsWith("-sentinel")
            ? Kind.SENTINEL
            : scheme.endsWith("-cluster") ? Kind.CLUSTER : Kind.SINGLE;
      }

      /** The URL without the password. */
      public String maskedUrl() {
        return Secret.maskUrl(url);
      }

      @Override
      public String toString() {
        return "Redis[" + maskedUrl() + ", " + timeout + ", " + prefix + ", " + access + "]";
      }
    }

    /**
     * In PostgreSQL.
     *
     * @param url {@code postgresql://[user[:password]@]host[:port][,…]/database[?parameters]}; no
     *     password among the parameters
     * @param timeout the deadline of each statement; 1 ms to 1 min
     * @param pool most connections; 1 to 1000
     * @param access what the URL does not say; without TLS, which its parameters say
     */
    record Postgres(String url, Duration timeout, int pool, StoreAccess access) implements Store {

      /** The URL without the password. */
      public String maskedUrl() {
        return url.replaceFirst("(://[^:@/]*):[^@/]*@", "$1:" + Secret.MASK + "@");
      }

      @Override
      public String toString() {
        return "Postgres[" + maskedUrl() + ", " + timeout + ", " + pool + ", " + access + "]";
      }
    }
  }

  /**
   * What protects the gateway itself.
   *
   * @param bodyBudget bytes that all buffered bodies together may take; at least the largest
   *     request limit of a keyed route that buffers
   * @param headerSize bytes of a request's head; 1 KiB to 1 MiB
   * @param headerCount field lines of a request; 1 to 10000
   * @param targetSize bytes of a request line; 1 KiB to 64 KiB
   * @param connections clients connected to one listener at one time; 1 to 1000000
   * @param connectionsPerAddress the same of one client address; 0 to 1000000, 0: no limit
   * @param idleTimeout how long a connection without a request is kept
   * @param headTimeout how long the head of a request may take to arrive
   * @param bodyTimeout how long a body may go without a byte
   * @param bodyRate least bytes per second of a body after a grace of bodyTimeout; 0: no limit
   * @param tunnelTimeout how long a WebSocket may go without a byte either way; 1 s to 24 h
   * @param http2Streams exchanges at once on one HTTP/2 connection; 1 to 1000
   * @param http2Window bytes of a body that an HTTP/2 client may send ahead; 64 KiB to 16 MiB
   * @param http2Resets streams that an HTTP/2 client may reset within 30 s; 1 to 10000
   * @param waiters duplicates that may wait at one time, in all; 0 to 1000000
   * @param backlog bytes that responses may take which are still to be stored; 1 B or more
   */
  public record Limits(
      long bodyBudget,
      int headerSize,
      int headerCount,
      int targetSize,
      int connections,
      int connectionsPerAddress,
      Duration idleTimeout,
      Duration headTimeout,
      Duration bodyTimeout,
      long bodyRate,
      Duration tunnelTimeout,
      int http2Streams,
      int http2Window,
      int http2Resets,
      int waiters,
      long backlog) {}

  /**
   * What is logged, and how.
   *
   * @param access whether every request gets a line
   */
  public record Log(LogFormat format, boolean access) {}

  /** How a line of the log looks. */
  public enum LogFormat {
    TEXT,
    JSON
  }

  /**
   * Which requests, whose key, and how long it counts.
   *
   * @param name the operation's name, part of the scope; unique
   * @param methods the methods that are keyed, in the order of the file; where the route is {@link
   *     Keying#OFF}, the methods that it takes, none standing for every method. Requests that no
   *     route takes by method pass through the first one that has their path
   * @param path a well-formed pattern: literal segments, {@code *} and <code>{name}</code> for one
   *     segment, {@code **} at the end for the rest, also an empty one
   * @param upstream the name of one of the upstreams
   * @param observe whether everything is only watched: nothing is refused or replayed; not where
   *     the route is {@link Keying#OFF}
   * @param listed whether the route is among those that everybody may read about
   * @param key where keys come from and what they must be
   * @param scope what tells whose key it is, in order; each part must be there. None stands for
   *     {@code Authorization} where there is one, else the route alone
   * @param quota how much each caller may begin; null where there is no limit, and where the route
   *     is {@link Keying#OFF}
   * @param forwardAuth who is asked whether a caller may; null for nobody, and where the route is
   *     {@link Keying#OFF}
   * @param fingerprint what tells a retry from a reuse of the key
   * @param retention how long a completed record lives; the lease to 3650 d
   * @param lease how long a reservation lives without being renewed; 100 ms to 1 h
   * @param waiting how duplicates wait for the answer
   * @param unknown what is done with a duplicate of an operation whose outcome is unknown
   * @param safety what keeps records, and finds out what became of operations
   * @param storeOutage what is done while the store cannot be reached
   * @param outcomes what a status stands for where the route says it, by status code 200 to 599
   * @param requestLimit bytes of a keyed request's body; 1 B to 1 GiB, to 1 TiB where it streams
   * @param requestMode when a keyed request goes upstream; it streams only where the body is raw
   * @param responseLimit bytes of a response's body that are kept; 1 B to 1 GiB, where the store is
   *     not memory to 64 MiB
   * @param responseMode when the client gets a keyed response
   * @param copy what of a response is stored
   * @param errors the form of the gateway's own errors
   * @param cors who may read answers in a browser; null where nothing is said of that
   * @param webSocket whether a connection may become a WebSocket; only where the route is {@link
   *     Keying#OFF}
   */
  public record Route(
      String name,
      Set<String> methods,
      String path,
      String upstream,
      Keying idempotency,
      boolean observe,
      boolean listed,
      RouteKey key,
      List<Scope> scope,
      @Nullable Quota quota,
      @Nullable ForwardAuth forwardAuth,
      Fingerprinting fingerprint,
      Duration retention,
      Duration lease,
      Waiting waiting,
      UnknownPolicy unknown,
      Safety safety,
      StoreOutage storeOutage,
      Map<Integer, Outcome> outcomes,
      long requestLimit,
      BodyMode requestMode,
      int responseLimit,
      BodyMode responseMode,
      ResponseCopy copy,
      ErrorStyle errors,
      @Nullable Cors cors,
      boolean webSocket) {

    public Route {
      methods = Collections.unmodifiableSet(new LinkedHashSet<>(methods));
      scope = List.copyOf(scope);
      outcomes = Collections.unmodifiableMap(new TreeMap<>(outcomes));
    }
  }

  /** Whether a request needs a key. */
  public enum Keying {
    /** Without one it is refused. */
    REQUIRED,
    /** Without one it is passed through. */
    OPTIONAL,
    /** Keys mean nothing here. */
    OFF
  }

  /** What becomes of keyed requests while the store cannot be reached. */
  public enum StoreOutage {
    REJECT,
    BYPASS
  }

  /** When a keyed body is passed on. */
  public enum BodyMode {
    /** When it is whole; a response, when it is stored. */
    BUFFER,
    /** As it comes. */
    STREAM
  }

  /** The form of the gateway's own errors. */
  public enum ErrorStyle {
    /** Problem details (RFC 9457). */
    PROBLEM,
    /** The {@code error} object that clients of payment APIs know. */
    STRIPE
  }

  /** The same at other places; how responses are put away stays, wherever the store is. */
  Configuration with(List<Listener> otherListen, HostAndPort otherAdmin, Store otherStore) {
    return new Configuration(
        otherListen,
        otherAdmin,
        otherStore,
        envelope,
        sweepEvery,
        operators,
        drain,
        drainDelay,
        threads,
        secrets,
        trustedProxies,
        hosts,
        paths,
        limits,
        log,
        discovery,
        tokens,
        upstreams,
        routes);
  }
}
