package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the requests of one kind are treated.
 *
 * @param name the operation's name, part of the scope
 * @param methods the methods that are keyed here; others pass through
 * @param path the paths
 * @param upstream where the requests go, on this event loop
 * @param keying whether a key is demanded
 * @param observe whether everything is only watched: what would be refused or replayed is counted
 *     and forwarded all the same
 * @param keys where keys come from and what they must be
 * @param callers whose keys they are
 * @param fingerprinter makes the fingerprints
 * @param retention how long a record lives
 * @param lease how long a reservation is believed to have a living owner
 * @param waiting whether and how duplicates wait for an operation in flight
 * @param unknown what becomes of duplicates where the outcome is unknown
 * @param safety what is done so that no record is lost unnoticed, and none stays unknown
 * @param bypass whether to forward without protection while the store is away
 * @param outcomes what a response means
 * @param requestLimit most bytes of a keyed request's body
 * @param responseLimit most bytes of a response that are kept
 * @param streaming whether the client gets the response as it comes
 * @param copy what of a response is stored
 * @param answers how the gateway speaks in its own name
 * @param streamsRequest whether a keyed body goes upstream as it comes and is hashed on the way
 * @param websocket whether a connection may become a WebSocket here (RFC 6455)
 */
public record Route(
    String name,
    Set<String> methods,
    PathPattern path,
    Upstream upstream,
    Keying keying,
    boolean observe,
    KeyRule keys,
    Callers callers,
    Fingerprinter fingerprinter,
    Duration retention,
    Duration lease,
    Waiting waiting,
    UnknownPolicy unknown,
    Safety safety,
    boolean bypass,
    OutcomePolicy outcomes,
    long requestLimit,
    long responseLimit,
    boolean streaming,
    CopyRule copy,
    AnswerRule answers,
    boolean streamsRequest,
    boolean websocket) {

  /** Whether a route's requests carry a key. */
  public enum Keying {
    /** Requests without a key are refused. */
    REQUIRED,
    /** Requests without a key pass through. */
    OPTIONAL,
    /** A key is not looked at. */
    OFF
  }

  /**
   * Whose keys they are, and what a caller may do.
   *
   * @param scope what tells whose key it is; each part must be there. Empty: {@code Authorization}
   *     where there is one, else the route alone
   * @param tokens verifies the tokens that {@link ScopePart.TokenClaim} reads; null where no part
   *     does
   * @param authorizer asked before the store is touched; null where nobody is asked
   * @param quota what a caller may begin; null where there is no limit
   */
  public record Callers(
      List<ScopePart> scope,
      @Nullable TokenVerifier tokens,
      @Nullable Authorizer authorizer,
      @Nullable Quota quota) {

    public Callers {
      scope = List.copyOf(scope);
    }

    /** Known by those parts, and nobody is asked. */
    public static Callers of(List<ScopePart> scope) {
      return new Callers(scope, null, null, null);
    }
  }

  /**
   * How duplicates wait for an operation in flight.
   *
   * @param patience for how long; zero: not at all, unless they ask for it themselves
   * @param longest for how long at most those wait that ask for it ({@code Prefer: wait}, RFC 7240)
   * @param perKey how many may wait for one operation, over all event loops
   */
  public record Waiting(Duration patience, Duration longest, int perKey) {

    /** So long, and nobody may ask for more. */
    public static Waiting of(Duration patience) {
      return new Waiting(patience, patience, 1_000);
    }
  }

  /**
   * What is done so that no record is lost unnoticed, and none stays unknown.
   *
   * @param durability how far writes must have got before they count
   * @param guard for how long new operations are refused after the store may have lost records;
   *     zero: not at all
   * @param probe how the upstream is asked about operations whose outcome is unknown; null where it
   *     is not
   */
  public record Safety(Durability durability, Duration guard, @Nullable ProbeRule probe) {
    public static final Safety NONE = new Safety(Durability.NONE, Duration.ZERO, null);
  }

  /** Whether the method is meant; a route without keys may leave its methods open. */
  boolean takes(String method) {
    return methods.contains(method) || (keying == Keying.OFF && methods.isEmpty());
  }
}
