package dev.idempotency.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2FrameTypes;

/**
 * Follows the heads of the frames that come (RFC 9113 §4.1) without taking a byte: knows what is
 * unfinished and since when, and whether the client sends more frames that carry nothing than a
 * client needs. The codec shows whole frames and whole field blocks only.
 *
 * <p>Time is that of the monotonic clock, in nanoseconds. Event loop only.
 */
final class Http2FrameWatch {

  private static final int HEAD_BYTES = 9;
  private static final int PREFACE_BYTES = 24;
  private static final int END_STREAM = 0x1;
  private static final int END_HEADERS = 0x4;
  private static final long NOTHING_UNFINISHED = Long.MIN_VALUE;

  private final Http2Allowance allowance;
  private int headBytes;
  private int length;
  private int type;
  private int flags;
  private int stream;
  private int left = PREFACE_BYTES;
  private boolean inPreface = true;
  private boolean inBlock;
  private long unfinishedSince;

  Http2FrameWatch(Http2Allowance allowance, long now) {
    this.allowance = allowance;
    this.unfinishedSince = now;
  }

  /** Looks through the bytes that came. */
  void read(ByteBuf bytes, long now) {
    int end = bytes.writerIndex();
    int at = bytes.readerIndex();
    while (at < end) {
      if (left > 0) {
        int passed = Math.min(left, end - at);
        left -= passed;
        at += passed;
      } else {
        head(bytes.getByte(at++));
      }
      if (left == 0 && (headBytes == HEAD_BYTES || inPreface)) {
        frameEnded();
      }
    }
    if (!isUnfinished()) {
      unfinishedSince = NOTHING_UNFINISHED;
    } else if (unfinishedSince == NOTHING_UNFINISHED) {
      unfinishedSince = now;
    }
  }

  private void head(byte next) {
    int value = next & 0xff;
    switch (headBytes++) {
      case 0, 1, 2 -> length = length << 8 | value;
      case 3 -> type = value;
      case 4 -> flags = value;
      default -> stream = stream << 8 | value;
    }
    if (headBytes == HEAD_BYTES) {
      stream &= Integer.MAX_VALUE;
      left = length;
      if (carriesNothing()) {
        allowance.spend(type == Http2FrameTypes.SETTINGS ? Http2Allowance.SETTINGS : 1);
      }
    }
  }

  /** Field blocks are bounded by their size, resets by their number, data by its window. */
  private boolean carriesNothing() {
    return switch (type) {
      case Http2FrameTypes.DATA -> length == 0 && (flags & END_STREAM) == 0;
      case Http2FrameTypes.HEADERS -> false;
      default -> true;
    };
  }

  private void frameEnded() {
    if (type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.CONTINUATION) {
      inBlock = (flags & END_HEADERS) == 0;
    }
    headBytes = 0;
    length = 0;
    stream = 0;
    inPreface = false;
    if (!inBlock) {
      unfinishedSince = NOTHING_UNFINISHED;
    }
  }

  /** A frame of data may come as slowly as its body may. */
  private boolean isUnfinished() {
    return inBlock || inPreface || (headBytes > 0 && dataStream() == 0);
  }

  /**
   * For how long the preface, a field block or a frame other than DATA has been unfinished; 0 where
   * nothing is.
   */
  long unfinishedFor(long now) {
    return unfinishedSince == NOTHING_UNFINISHED ? 0 : now - unfinishedSince;
  }

  /** The stream whose DATA frame is here in part; 0 where there is none. */
  int dataStream() {
    return headBytes == HEAD_BYTES && type == Http2FrameTypes.DATA ? stream : 0;
  }

  /** How many bytes of that frame are here. */
  int dataBytes() {
    return length - left;
  }
}
