package dev.idempotency.gateway.exchange;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The value of {@code Authorization} as the part of an identity. The scheme's name compares without
 * regard to case (RFC 9110 §11.1), so each is written as it is registered, which is how nearly all
 * clients write it. A name that is not known here stays as it came: to rewrite it would part
 * callers from the records they have.
 */
final class CredentialText {

  private static final Map<String, String> SCHEMES = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  static {
    for (String scheme :
        new String[] {
          "Basic",
          "Bearer",
          "Concealed",
          "Digest",
          "DPoP",
          "GNAP",
          "HOBA",
          "Mutual",
          "Negotiate",
          "NTLM",
          "OAuth",
          "PrivateToken",
          "SCRAM-SHA-1",
          "SCRAM-SHA-256",
          "vapid"
        }) {
      SCHEMES.put(scheme, scheme);
    }
  }

  private CredentialText() {}

  /** The same credentials in the one spelling that counts. */
  static String of(String value) {
    if (value.startsWith("Bearer ")) {
      return value;
    }
    int blank = value.indexOf(' ');
    String known = blank < 0 ? null : SCHEMES.get(value.substring(0, blank));
    return known == null ? value : known + value.substring(blank);
  }

  /**
   * What stands behind the scheme's name.
   *
   * @return null where the value is of another scheme or nothing follows
   */
  static @Nullable String behind(String scheme, String value) {
    boolean same =
        value.length() > scheme.length()
            && value.regionMatches(true, 0, scheme, 0, scheme.length())
            && value.charAt(scheme.length()) == ' ';
    String rest = same ? value.substring(scheme.length()).strip() : "";
    return rest.isEmpty() ? null : rest;
  }
}
