package dev.idempotency.gateway.idempotency;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Marks a record as written by one attempt of one gateway process, so that the owner of a
 * reservation whose reply was lost recognises its own record.
 */
public final class AttemptToken {

  /** Length in bytes. */
  public static final int LENGTH = 16;

  // Half chance (one per process), half count: unique, and cheaper than chance for each.
  private static final long PROCESS = new SecureRandom().nextLong();
  private static final AtomicLong COUNT = new AtomicLong(new SecureRandom().nextLong());

  private final byte[] bytes;

  private AttemptToken(byte[] bytes) {
    this.bytes = bytes;
  }

  /** A token that no attempt had before. */
  public static AttemptToken next() {
    return new AttemptToken(
        ByteBuffer.allocate(LENGTH).putLong(PROCESS).putLong(COUNT.getAndIncrement()).array());
  }

  /** From the {@link #LENGTH} bytes of an earlier one. */
  public static AttemptToken of(byte[] bytes) {
    if (bytes.length != LENGTH) {
      throw new IllegalArgumentException(bytes.length + " bytes, expected: " + LENGTH);
    }
    return new AttemptToken(bytes.clone());
  }

  /** A copy of the bytes. */
  public byte[] toByteArray() {
    return bytes.clone();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof AttemptToken that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }
}
