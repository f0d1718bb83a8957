package dev.idempotency.gateway.store.envelope;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Options for tests; keys of the same id are the same. */
public final class Keys {

  private Keys() {}

  /** Encrypts with the first of these keys. */
  public static EnvelopeOptions encrypting(String... ids) {
    return options(0, ids);
  }

  /** Compresses bodies of that many bytes and more, and encrypts where there are keys. */
  public static EnvelopeOptions options(int compressFrom, String... ids) {
    List<EnvelopeOptions.Key> keys = Stream.of(ids).map(Keys::key).toList();
    return new EnvelopeOptions(keys, compressFrom);
  }

  private static EnvelopeOptions.Key key(String id) {
    byte[] secret = new byte[EnvelopeOptions.Key.LENGTH];
    Arrays.fill(secret, (byte) id.hashCode());
    return new EnvelopeOptions.Key(id, secret);
  }
}
