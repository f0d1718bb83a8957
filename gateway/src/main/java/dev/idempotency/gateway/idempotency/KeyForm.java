package dev.idempotency.gateway.idempotency;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The usual forms of keys.
 *
 * <p>A form is looked at and nothing is folded: the key stays as it was sent, so one key in upper
 * and in lower case is two keys.
 */
public enum KeyForm implements KeyPattern {

  /** A UUID of any version and variant, in any case (RFC 9562 §4). */
  UUID("a UUID, such as 8e03978e-40d5-43dd-bc93-6894a57f9324") {
    @Override
    public boolean matches(String key) {
      return isUuid(key);
    }
  },

  /** A UUID of version 7, which begins with the time it was made (RFC 9562 §5.7). */
  UUID7("a UUID of version 7, such as 019ad2f1-6c00-7c6b-9d1e-2f3a4b5c6d7e") {
    @Override
    public boolean matches(String key) {
      return isUuid(key) && key.charAt(14) == '7' && "89abAB".indexOf(key.charAt(19)) >= 0;
    }

    @Override
    public Instant madeAt(String key) {
      long high = Long.parseLong(key, 0, 8, 16);
      return Instant.ofEpochMilli(high << 16 | Long.parseLong(key, 9, 13, 16));
    }
  },

  /**
   * A ULID: 26 digits of Crockford's base 32, none of them I, L, O or U, in any case. The first ten
   * are the time it was made; one beyond 7ZZZZZZZZZZZZZZZZZZZZZZZZZ has more than 128 bits.
   */
  ULID("a ULID, such as 01KB9F2V00E7N8M4R2T6Y0W3QX") {
    @Override
    public boolean matches(String key) {
      return key.length() == 26 && key.charAt(0) <= '7' && isBase32(key);
    }

    @Override
    public Instant madeAt(String key) {
      long millis = 0;
      for (int i = 0; i < TIME_DIGITS; i++) {
        millis = millis << 5 | base32(key.charAt(i));
      }
      return Instant.ofEpochMilli(millis);
    }
  };

  private static final int TIME_DIGITS = 10;
  private static final String BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

  private final String expected;

  KeyForm(String expected) {
    this.expected = expected;
  }

  @Override
  public String expected() {
    return expected;
  }

  @Override
  public @Nullable Instant madeAt(String key) {
    return null;
  }

  private static boolean isUuid(String key) {
    if (key.length() != 36) {
      return false;
    }
    for (int i = 0; i < 36; i++) {
      boolean hyphen = i == 8 || i == 13 || i == 18 || i == 23;
      if (hyphen ? key.charAt(i) != '-' : !isHex(key.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isHex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }

  private static boolean isBase32(String key) {
    for (int i = 0; i < key.length(); i++) {
      if (base32(key.charAt(i)) < 0) {
        return false;
      }
    }
    return true;
  }

  /** The digit's value, or -1. */
  private static int base32(char c) {
    return BASE_32.indexOf(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
  }
}
