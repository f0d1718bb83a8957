package dev.idempotency.gateway.idempotency;

import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import java.util.Set;

/**
 * What one request asks for: its fingerprint by the rule of today, and the answer to whether a
 * recorded one is of the same request although an earlier rule or secret made it.
 *
 * <p>Threading: one thread at a time.
 */
public interface Fingerprints {

  /** Of a request whose body is still on its way. */
  Fingerprints OPEN = only(Fingerprint.OPEN);

  /**
   * Of a body that is larger than allowed once its content coding is undone: there is none, and the
   * request is to be refused.
   */
  Fingerprints TOO_LARGE = new TooLarge();

  /** By the rule of today: what a new record gets. {@link Fingerprint#OPEN} while not known. */
  Fingerprint current();

  /**
   * Whether the recorded fingerprint, by whatever rule that is still known, is of this request. An
   * open one is of none.
   */
  boolean include(Fingerprint recorded);

  /**
   * The parts in which this request differs from the recorded one; none where nobody can say. Asked
   * where the recorded one is not {@linkplain #include included}.
   */
  default Set<Part> differing(Fingerprint recorded) {
    return current().differing(recorded);
  }

  /** Whether this is {@link #TOO_LARGE}. */
  default boolean isTooLarge() {
    return false;
  }

  /** Whether the request has not been seen whole. */
  default boolean isOpen() {
    return current().isOpen();
  }

  /** The kind that nothing but {@link #isTooLarge} can be asked of. */
  final class TooLarge implements Fingerprints {

    private TooLarge() {}

    @Override
    public Fingerprint current() {
      throw new IllegalStateException("a body that is too large has no fingerprint");
    }

    @Override
    public boolean include(Fingerprint recorded) {
      return false;
    }

    @Override
    public boolean isTooLarge() {
      return true;
    }
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
