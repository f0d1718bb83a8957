package dev.idempotency.gateway.exchange;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Credentials of HTTP Basic authentication (RFC 7617 §2), of which only the user is wanted. */
sealed interface BasicCredentials {

  /** The user-id; not empty. */
  record User(String name) implements BasicCredentials {}

  /**
   * Credentials that name nobody.
   *
   * @param reason nothing of what was sent
   */
  record Malformed(String reason) implements BasicCredentials {}

  /**
   * Reads them.
   *
   * @param token what stands behind {@code Basic}
   */
  static BasicCredentials read(String token) {
    String text;
    try {
      byte[] bytes = Base64.getDecoder().decode(token);
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (IllegalArgumentException | CharacterCodingException e) {
      return new Malformed("The Basic credentials are not UTF-8 text in base64");
    }
    if (text.chars().anyMatch(c -> c < 0x20 || (c >= 0x7f && c < 0xa0))) {
      return new Malformed("The Basic credentials have control characters");
    }
    // The user can't have a colon, the password can.
    int colon = text.indexOf(':');
    if (colon < 0) {
      return new Malformed("The Basic credentials have no colon between user and password");
    }
    // Some send a secret as the password of an empty user: that is not one caller.
    return colon == 0
        ? new Malformed("The Basic credentials have an empty user")
        : new User(text.substring(0, colon));
  }
}
