package dev.idempotency.gateway.transport;

import dev.idempotency.gateway.http.ArrayChunk;
import dev.idempotency.gateway.http.Chunk;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** A chunk that is a buffer of the network library. */
public final class NettyChunk implements Chunk {

  private final ByteBuf buffer;

  /** Takes the buffer over. */
  public NettyChunk(ByteBuf buffer) {
    this.buffer = buffer;
  }

  /** The chunk's bytes as a buffer that the caller now owns; the chunk is used up. */
  public static ByteBuf bufferOf(Chunk chunk) {
    if (chunk instanceof NettyChunk netty) {
      return netty.buffer;
    }
    if (chunk instanceof ArrayChunk part) {
      return Unpooled.wrappedBuffer(part.array(), part.offset(), part.length());
    }
    byte[] copy = new byte[chunk.length()];
    chunk.copyTo(copy, 0);
    chunk.release();
    return Unpooled.wrappedBuffer(copy);
  }

  @Override
  public int length() {
    return buffer.readableBytes();
  }

  @Override
  public void copyTo(byte[] target, int offset) {
    buffer.getBytes(buffer.readerIndex(), target, offset, buffer.readableBytes());
  }

  @Override
  public void release() {
    buffer.release();
  }
}
