package dev.idempotency.gateway.fingerprint;

import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * What surrounds the deflated bytes of one member of a gzip stream (RFC 1952 §2.3).
 *
 * @param end where the header ends
 */
record GzipFrame(int end) {

  /** Length of what follows the deflated bytes. */
  static final int TRAILER = 8;

  private static final int FIXED = 10;
  private static final int HEADER_CHECKED = 2;
  private static final int EXTRA = 4;
  private static final int NAME = 8;
  private static final int COMMENT = 16;
  private static final int RESERVED = 0xE0;

  /** The header there, or null where there is none. */
  static @Nullable GzipFrame at(byte[] bytes, int from, int to) {
    boolean begins =
        to - from >= FIXED
            && bytes[from] == 0x1F
            && bytes[from + 1] == (byte) 0x8B
            && bytes[from + 2] == 8
            && (bytes[from + 3] & RESERVED) == 0;
    if (!begins) {
      return null;
    }
    int flags = bytes[from + 3];
    int at = from + FIXED;
    if ((flags & EXTRA) != 0) {
      at = to - at < 2 ? to + 1 : at + 2 + little(bytes, at, 2);
    }
    at = (flags & NAME) != 0 ? behindZero(bytes, at, to) : at;
    at = (flags & COMMENT) != 0 ? behindZero(bytes, at, to) : at;
    if ((flags & HEADER_CHECKED) != 0) {
      boolean sound = to - at >= 2 && little(bytes, at, 2) == (crc(bytes, from, at) & 0xFFFF);
      at = sound ? at + 2 : to + 1;
    }
    return at > to ? null : new GzipFrame(at);
  }

  private static int behindZero(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && bytes[at] != 0) {
      at++;
    }
    return at < to ? at + 1 : to + 1;
  }

  /** Whether check sum and length of the decoded range stand there. */
  static boolean isTrailer(byte[] bytes, int at, int to, byte[] decoded, int from, int end) {
    return to - at >= TRAILER
        && little(bytes, at, 4) == crc(decoded, from, end)
        && little(bytes, at + 4, 4) == end - from;
  }

  private static int crc(byte[] bytes, int from, int to) {
    CRC32 crc = new CRC32();
    crc.update(bytes, from, to - from);
    return (int) crc.getValue();
  }

  private static int little(byte[] bytes, int at, int count) {
    int value = 0;
    for (int i = count - 1; i >= 0; i--) {
      value = value << 8 | (bytes[at + i] & 0xFF);
    }
    return value;
  }
}
