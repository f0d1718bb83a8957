package dev.idempotency.gateway.fingerprint;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A growable buffer of canonical bytes.
 *
 * <p>Whoever writes first {@linkplain #reserve reserves}; writing itself does not check. There are
 * always {@link #SLACK} bytes more than were reserved, so that a writer may store whole words.
 */
final class CanonicalText {

  /** Bytes beyond what was reserved that may be overwritten at will. */
  static final int SLACK = 16;

  /** Eight bytes as one number, the first byte being the most significant. */
  static final VarHandle BIG_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** Eight bytes as one number, the first byte being the least significant. */
  static final VarHandle LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Four bytes as one number, the first byte being the most significant. */
  static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  static final int INITIAL = 1024;
  private static final byte[] HEX = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
  };

  byte[] bytes = new byte[INITIAL];
  int length;

  /** Makes room for that many bytes more. */
  void reserve(int more) {
    int needed = length + more + SLACK;
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length + (bytes.length >> 1)));
    }
  }

  void put(int b) {
    bytes[length++] = (byte) b;
  }

  /** Writes four bytes, the most significant first. */
  void putInt(int value) {
    INT.set(bytes, length, value);
    length += Integer.BYTES;
  }

  void put(byte[] source, int from, int to) {
    System.arraycopy(source, from, bytes, length, to - from);
    length += to - from;
  }

  /** Writes an ASCII literal. */
  void put(String ascii) {
    for (int i = 0; i < ascii.length(); i++) {
      bytes[length++] = (byte) ascii.charAt(i);
    }
  }

  /** Writes one character of a string in UTF-8, escaped only where RFC 8785 §3.2.2.2 escapes. */
  void putCharacter(int codePoint) {
    if (codePoint >= 0x80) {
      putUtf8(codePoint);
    } else if (codePoint < 0x20) {
      putControl(codePoint);
    } else {
      if (codePoint == '"' || codePoint == '\\') {
        put('\\');
      }
      put(codePoint);
    }
  }

  /** Writes one character in UTF-8, never escaped. */
  void putPlain(int codePoint) {
    if (codePoint < 0x80) {
      put(codePoint);
    } else {
      putUtf8(codePoint);
    }
  }

  private void putControl(int codePoint) {
    put('\\');
    switch (codePoint) {
      case '\b' -> put('b');
      case '\t' -> put('t');
      case '\n' -> put('n');
      case '\f' -> put('f');
      case '\r' -> put('r');
      default -> {
        put("u00");
        put(HEX[codePoint >> 4]);
        put(HEX[codePoint & 15]);
      }
    }
  }

  private void putUtf8(int codePoint) {
    if (codePoint < 0x800) {
      put(0xC0 | (codePoint >> 6));
    } else {
      if (codePoint < 0x10000) {
        put(0xE0 | (codePoint >> 12));
      } else {
        put(0xF0 | (codePoint >> 18));
        put(0x80 | ((codePoint >> 12) & 0x3F));
      }
      put(0x80 | ((codePoint >> 6) & 0x3F));
    }
    put(0x80 | (codePoint & 0x3F));
  }

  /** Empties the buffer and gives back memory beyond {@code most} bytes. */
  void clear(int most) {
    length = 0;
    if (bytes.length > most) {
      bytes = new byte[INITIAL];
    }
  }
}
