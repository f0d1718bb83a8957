package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import java.nio.charset.StandardCharsets;

/** A chunk that must be released exactly once. */
final class TextChunk implements Chunk {

  private final byte[] bytes;
  private int released;

  TextChunk(String text) {
    bytes = text.getBytes(StandardCharsets.ISO_8859_1);
  }

  static TextChunk ofLength(int length) {
    return new TextChunk("x".repeat(length));
  }

  int released() {
    return released;
  }

  @Override
  public int length() {
    return bytes.length;
  }

  @Override
  public void copyTo(byte[] target, int offset) {
    System.arraycopy(bytes, 0, target, offset, bytes.length);
  }

  @Override
  public void release() {
    if (++released > 1) {
      throw new IllegalStateException("released twice");
    }
  }
}
