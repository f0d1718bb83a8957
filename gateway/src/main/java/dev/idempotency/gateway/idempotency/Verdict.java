package dev.idempotency.gateway.idempotency;

import java.time.Duration;

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
   */
  record TakeOver(long attempt) implements Verdict {}

  /** The same request, done, its response not kept. */
  record NotKept(int status) implements Verdict {}

  /** Another request under the same key. */
  record KeyReused() implements Verdict {}

  /** Judges a duplicate. The fingerprint is compared before anything else is looked at. */
  static Verdict on(StoredOperation operation, Fingerprint fingerprint, UnknownPolicy policy) {
    if (!operation.fingerprint().equals(fingerprint)) {
      return new KeyReused();
    }
    return operation
        .state()
        .match(
            inFlight -> new InFlight(inFlight.leaseLeft()),
            unknown ->
                policy == UnknownPolicy.RETRY ? new TakeOver(operation.attempt()) : new Hold(),
            completed -> new Replay(completed.response()),
            notKept -> new NotKept(notKept.status()));
  }
}
