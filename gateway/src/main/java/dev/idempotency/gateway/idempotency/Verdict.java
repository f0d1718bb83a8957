package dev.idempotency.gateway.idempotency;

import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is to be done with a request whose operation has a record already. */
public sealed interface Verdict {

  /** The same request, done: serve the stored response. */
  record Replay(StoredResponse response) implements Verdict {}

  /** The same request, being forwarded under a live lease. */
  record InFlight(Duration leaseLeft) implements Verdict {}

  /** The same request, outcome unknown, and the route holds it. */
  record Hold() implements Verdict {}

  /**
   * The same request, outcome unknown, and the route forwards it again.
   *
   * @param attempt the attempt that is to be followed
   * @param recorded the fingerprint in its record, which the new attempt keeps unless it is open
   * @param holder the token of its record; null where it is not known
   */
  record TakeOver(long attempt, Fingerprint recorded, @Nullable AttemptToken holder)
      implements Verdict {}

  /**
   * The same request, outcome unknown, and the upstream is to be asked what became of it.
   *
   * @param attempt the attempt that is asked about
   * @param recorded the fingerprint in its record
   * @param holder the token of its record; null where it is not known
   */
  record Probe(long attempt, Fingerprint recorded, @Nullable AttemptToken holder)
      implements Verdict {}

  /** The same request, done, its response not kept. */
  record NotKept(int status) implements Verdict {}

  /**
   * Another request under the same key.
   *
   * @param parts in what it differs; empty where nobody can say
   */
  record KeyReused(Set<Part> parts) implements Verdict {
    public KeyReused {
      parts = Set.copyOf(parts);
    }
  }

  /** Perhaps another request: its own fingerprint must be known before it can be judged. */
  record Unread() implements Verdict {}

  /**
   * Judges a duplicate. The fingerprint is compared before anything else is looked at.
   *
   * <p>A record whose own fingerprint is open belongs to a request that was not seen whole. Nothing
   * can be compared with it, so nothing is replayed from it; and where its outcome is unknown and
   * the route forwards again, any request may follow it.
   *
   * @param made the duplicate's own; {@link Fingerprints#OPEN} while its body is on its way
   */
  static Verdict on(StoredOperation operation, Fingerprints made, UnknownPolicy policy) {
    boolean open = operation.fingerprint().isOpen();
    if (!open && made.isOpen()) {
      return new Unread();
    }
    if (!open && !made.include(operation.fingerprint())) {
      return new KeyReused(made.differing(operation.fingerprint()));
    }
    return operation
        .state()
        .match(
            inFlight -> new InFlight(inFlight.leaseLeft()),
            unknown -> unknown(operation, policy),
            completed ->
                open
                    ? new NotKept(completed.response().status())
                    : new Replay(completed.response()),
            notKept -> new NotKept(notKept.status()));
  }

  private static Verdict unknown(StoredOperation operation, UnknownPolicy policy) {
    return switch (policy) {
      case HOLD -> new Hold();
      case RETRY -> new TakeOver(operation.attempt(), operation.fingerprint(), operation.holder());
      case PROBE -> new Probe(operation.attempt(), operation.fingerprint(), operation.holder());
    };
  }
}
