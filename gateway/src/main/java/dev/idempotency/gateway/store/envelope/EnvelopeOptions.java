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

  public EnvelopeOptions {
    keys = List.copyOf(keys);
  }

  /**
   * A key that encrypts the keys of records.
   *
   * @param id 1 to 32 letters, digits, "-" and "_"; stands in each record
   * @param secret 32 bytes
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Key(String id, byte[] secret) {

    /** Without the secret. */
    @Override
    public String toString() {
      return "Key[" + id + "]";
    }
  }
}
