package dev.idempotency.gateway.store.envelope;

import java.util.List;

/**
 * How responses are put away.
 *
 * @param keys what they are encrypted with: the first writes, all read; none: they are not
 *     encrypted
 * @param compressFrom bytes of a body from which on it is compressed; 0: never
 */
public record EnvelopeOptions(List<Key> keys, int compressFrom) {

  /** Throws {@link IllegalArgumentException} where two keys have the same id. */
  public EnvelopeOptions {
    keys = List.copyOf(keys);
    if (keys.stream().map(Key::id).distinct().count() < keys.size()) {
      throw new IllegalArgumentException(
          "keys " + keys + " (expected: an id of its own for each, since records name it)");
    }
    if (compressFrom < 0) {
      throw new IllegalArgumentException("compressFrom " + compressFrom + " (expected: 0 or more)");
    }
  }

  /** Whether there is anything to do. */
  public boolean isNothing() {
    return keys.isEmpty() && compressFrom == 0;
  }

  /**
   * A key that encrypts the keys of records. Nonces are drawn at random, so that a key should write
   * no more than 2^32 records (NIST SP 800-38D §8.3); then another takes its place.
   *
   * @param id 1 to 32 letters, digits, "-" and "_"; stands in each record
   * @param secret 32 bytes
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Key(String id, byte[] secret) {

    /** Length of a secret in bytes. */
    public static final int LENGTH = 32;

    /** Throws {@link IllegalArgumentException} where a value is out of its range. */
    public Key {
      if (!isId(id)) {
        throw new IllegalArgumentException(
            "id \"" + id + "\" (expected: 1 to 32 letters, digits, \"-\" and \"_\")");
      }
      if (secret.length != LENGTH) {
        throw new IllegalArgumentException(
            "key " + id + " of " + secret.length + " bytes (expected: " + LENGTH + ")");
      }
    }

    static boolean isId(String text) {
      return text.matches("[A-Za-z0-9_-]{1,32}");
    }

    /** Without the secret. */
    @Override
    public String toString() {
      return "Key[" + id + "]";
    }
  }
}
