package dev.idempotency.gateway.server;

/** The classes of octets that heads are made of (RFC 9110 §5.5, §5.6.2, RFC 3986 §2). */
final class Octets {

  private static final byte TOKEN = 1;
  private static final byte VALUE = 2;
  private static final byte VISIBLE = 4;

  private static final byte[] CLASSES = new byte[256];

  static {
    for (int c = 0x21; c < 0x7f; c++) {
      boolean token = Character.isLetterOrDigit(c) || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
      CLASSES[c] = (byte) (VALUE | VISIBLE | (token ? TOKEN : 0));
    }
    for (int c = 0x80; c < 0x100; c++) {
      CLASSES[c] = VALUE;
    }
    CLASSES[' '] = VALUE;
    CLASSES['\t'] = VALUE;
  }

  private Octets() {}

  /** Whether a method or the name of a field may have it. */
  static boolean isToken(int c) {
    return c < 0x100 && (CLASSES[c] & TOKEN) != 0;
  }

  /** Whether the value of a field may have it: everything but controls. */
  static boolean isValue(byte c) {
    return (CLASSES[c & 0xff] & VALUE) != 0;
  }

  /** Visible ASCII: neither blank nor control nor beyond 0x7e. */
  static boolean isVisible(int c) {
    return c < 0x100 && (CLASSES[c] & VISIBLE) != 0;
  }

  static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  static boolean isBlank(int c) {
    return c == ' ' || c == '\t';
  }
}
