package dev.idempotency.gateway.config;

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
 * @param listen where clients connect
 * @param admin where metrics, health and operations are served; never the public side
 * @param store where the records are
 * @param drain how long requests in flight may take to end after SIGTERM; 0 to 1 h
 * @param threads number of event loops; 1 to 1024
 * @param secret keys the fingerprints' hash; null where they are hashed without a key
 * @param limits what protects the gateway itself
 * @param log what is logged, and how
 * @param upstreams by name, in the order of the file; one or more
 * @param routes in the order in which they are tried; one or more
 */
public record Configuration(
    HostAndPort listen,
    HostAndPort admin,
    Store store,
    Duration drain,
    int threads,
    @Nullable Secret secret,
    Limits limits,
    Log log,
    Map<String, Upstream> upstreams,
    List<Route> routes) {

  public Configuration {
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
     * @param url a {@code redis}, {@code rediss}, {@code redis-sentinel} or {@code rediss-sentinel}
     *     URL; may hold a password
     * @param timeout the deadline of each command; 1 ms to 1 min
     * @param prefix what the names of all keys begin with
     */
    record Redis(String url, Duration timeout, String prefix) implements Store {

      /** The URL without the password. */
      public String maskedUrl() {
        return Secret.maskUrl(url);
      }

      @Override
      public String toString() {
        return "Redis[" + maskedUrl() + ", " + timeout + ", " + prefix + "]";
      }
    }
  }

  /**
   * What protects the gateway itself.
   *
   * @param bodyBudget bytes that all buffered bodies together may take; at least the largest
   *     request limit of a keyed route
   * @param headerSize bytes of a request's head; 1 KiB to 1 MiB
   * @param headerCount field lines of a request; 1 to 10000
   * @param connections clients connected at one time; 1 to 1000000
   * @param idleTimeout how long a connection without a request is kept
   * @param headTimeout how long the head of a request may take to arrive
   * @param bodyTimeout how long a body may go without a byte
   */
  public record Limits(
      long bodyBudget,
      int headerSize,
      int headerCount,
      int connections,
      Duration idleTimeout,
      Duration headTimeout,
      Duration bodyTimeout) {}

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
   * A server that requests are forwarded to. All durations are 1 ms to 24 h.
   *
   * @param name what routes call it
   * @param address where it is; plain HTTP
   * @param connectTimeout how long a connection may take to be made
   * @param responseTimeout how long the upstream may stay silent after the request went out
   * @param idleTimeout how long an unused connection is kept; less than the upstream keeps it
   * @param maxConnections most connections, in use and idle; 1 to 65535
   * @param maxWaiting most requests that wait for a connection; 0 to 1000000
   * @param acquireTimeout how long a request waits for a connection
   */
  public record Upstream(
      String name,
      HostAndPort address,
      Duration connectTimeout,
      Duration responseTimeout,
      Duration idleTimeout,
      int maxConnections,
      int maxWaiting,
      Duration acquireTimeout) {

    Upstream at(HostAndPort other) {
      return new Upstream(
          name,
          other,
          connectTimeout,
          responseTimeout,
          idleTimeout,
          maxConnections,
          maxWaiting,
          acquireTimeout);
    }
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
   * @param keyHeader the header field that carries the key
   * @param scope the header fields that tell whose key it is, in order; each must be there. None
   *     stands for {@code Authorization} where there is one, else the route alone
   * @param ignore JSON pointers (RFC 6901) to members that the fingerprint leaves out
   * @param fingerprintHeaders header fields that the fingerprint covers
   * @param retention how long a completed record lives; the lease to 3650 d
   * @param lease how long a reservation lives without being renewed; 100 ms to 1 h
   * @param inFlightWait how long a duplicate waits for the answer; zero where it is refused at once
   * @param unknown what is done with a duplicate of an operation whose outcome is unknown
   * @param storeOutage what is done while the store cannot be reached
   * @param outcomes what a status stands for where the route says it, by status code 200 to 599
   * @param requestLimit bytes of a keyed request's body; 1 B to 1 GiB
   * @param responseLimit bytes of a response's body that are kept; 1 B to 1 GiB
   * @param responseMode when the client gets a keyed response
   * @param keep names, in small letters, of header fields that are stored and replayed although
   *     they belong to the first exchange, such as {@code Set-Cookie}
   */
  public record Route(
      String name,
      Set<String> methods,
      String path,
      String upstream,
      Keying idempotency,
      String keyHeader,
      List<String> scope,
      List<String> ignore,
      List<String> fingerprintHeaders,
      Duration retention,
      Duration lease,
      Duration inFlightWait,
      UnknownPolicy unknown,
      StoreOutage storeOutage,
      Map<Integer, Outcome> outcomes,
      int requestLimit,
      int responseLimit,
      ResponseMode responseMode,
      Set<String> keep) {

    public Route {
      methods = Collections.unmodifiableSet(new LinkedHashSet<>(methods));
      scope = List.copyOf(scope);
      ignore = List.copyOf(ignore);
      fingerprintHeaders = List.copyOf(fingerprintHeaders);
      keep = Collections.unmodifiableSet(new LinkedHashSet<>(keep));
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

  /** When the client gets a keyed response. */
  public enum ResponseMode {
    /** When it is stored. */
    BUFFER,
    /** As it comes; it is stored at its end. */
    STREAM
  }

  Configuration with(HostAndPort otherListen, HostAndPort otherAdmin, Store otherStore) {
    return new Configuration(
        otherListen,
        otherAdmin,
        otherStore,
        drain,
        threads,
        secret,
        limits,
        log,
        upstreams,
        routes);
  }
}
