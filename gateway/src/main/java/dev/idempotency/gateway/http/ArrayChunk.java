package dev.idempotency.gateway.http;

/**
 * A part of an array as a chunk; there is nothing to give back.
 *
 * @param array not to be changed any more
 * @param offset where the part begins
 * @param length number of bytes
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ArrayChunk(byte[] array, int offset, int length) implements Chunk {

  @Override
  public void copyTo(byte[] target, int targetOffset) {
    System.arraycopy(array, offset, target, targetOffset, length);
  }

  @Override
  public void release() {}
}
