package dev.idempotency.gateway.config;

import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How responses are put away in whatever store there is.
 *
 * @param compressFrom bytes of a body from which on it is compressed; 0 to 1 GiB, 0: never
 * @param keys what they are encrypted with: the first writes, all read; none: they are not
 *     encrypted
 */
public record Envelope(int compressFrom, List<Key> keys) {

  /** Bytes of a key. */
  static final int KEY_BYTES = 32;

  static final Envelope NONE = new Envelope(0, List.of());

  public Envelope {
    keys = List.copyOf(keys);
  }

  /**
   * A key, and where it was found; in one of two places.
   *
   * @param id 1 to 32 letters, digits, "-" and "_"; no two keys have the same
   * @param variable the variable of the environment; null where it came from a file
   * @param file the file; null where it came from a variable
   * @param secret {@value #KEY_BYTES} bytes in base64
   */
  public record Key(String id, @Nullable String variable, @Nullable Path file, Secret secret) {

    /** The key itself. */
    public byte[] bytes() {
      return Base64.getDecoder().decode(secret.value());
    }
  }
}
