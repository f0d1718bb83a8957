package dev.idempotency.gateway.store.envelope;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Raw DEFLATE (RFC 1951) at its fastest level.
 *
 * <p>Threading: safe from any thread; each has tools of its own.
 */
final class Deflate {

  /** No stream of DEFLATE grows by more than this when it is inflated. */
  private static final long MOST_GROWTH = 1_032;

  private static final ThreadLocal<Deflater> DEFLATER =
      ThreadLocal.withInitial(() -> new Deflater(Deflater.BEST_SPEED, true));
  private static final ThreadLocal<Inflater> INFLATER =
      ThreadLocal.withInitial(() -> new Inflater(true));

  private Deflate() {}

  /** The bytes compressed, or null where that makes them no shorter. */
  static byte @Nullable [] deflated(byte[] bytes) {
    Deflater deflater = DEFLATER.get();
    try {
      deflater.setInput(bytes);
      deflater.finish();
      byte[] out = new byte[bytes.length];
      int length = deflater.deflate(out);
      return deflater.finished() && length < bytes.length ? Arrays.copyOf(out, length) : null;
    } finally {
      deflater.reset();
    }
  }

  /**
   * The bytes that were compressed.
   *
   * @param length how many they are; no more are ever inflated
   * @throws UnreadableException if they are not as many
   */
  static byte[] inflated(byte[] bytes, int from, int length) throws UnreadableException {
    int compressed = bytes.length - from;
    if (length > compressed * MOST_GROWTH) {
      throw new UnreadableException("its length is wrong");
    }
    Inflater inflater = INFLATER.get();
    try {
      inflater.setInput(bytes, from, compressed);
      byte[] out = new byte[length];
      // The end shows only when more is asked for than there is.
      int more = inflater.inflate(out) == length ? inflater.inflate(new byte[1]) : 1;
      if (more != 0 || !inflater.finished() || inflater.getRemaining() != 0) {
        throw new UnreadableException("its length is wrong");
      }
      return out;
    } catch (DataFormatException e) {
      throw new UnreadableException("its body does not inflate");
    } finally {
      inflater.reset();
    }
  }
}
