package dev.idempotency.gateway.idempotency;

/**
 * What one request asks for: its fingerprint by the rule of today, and the answer to whether a
 * recorded one is of the same request although an earlier rule or secret made it.
 *
 * <p>Threading: one thread at a time.
 */
public interface Fingerprints {

  /** Of a request whose body is still on its way. */
  Fingerprints OPEN = only(Fingerprint.OPEN);

  /** By the rule of today: what a new record gets. {@link Fingerprint#OPEN} while not known. */
  Fingerprint current();

  /**
   * Whether the recorded fingerprint, by whatever rule that is still known, is of this request. An
   * open one is of none.
   */
  boolean include(Fingerprint recorded);

  /** Whether the request has not been seen whole. */
  default boolean isOpen() {
    return current().isOpen();
  }

  /** Of a request that no earlier rule is known for. */
  static Fingerprints only(Fingerprint current) {
    return new Fingerprints() {
      @Override
      public Fingerprint current() {
        return current;
      }

      @Override
      public boolean include(Fingerprint recorded) {
        return !recorded.isOpen() && recorded.equals(current);
      }
    };
  }
}
