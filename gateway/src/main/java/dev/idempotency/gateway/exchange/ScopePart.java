package dev.idempotency.gateway.exchange;

import org.jspecify.annotations.Nullable;

/** Where a part of the identity comes from that a key belongs to. */
public sealed interface ScopePart {

  /** The field of the request that the part is read from; null where it comes from elsewhere. */
  default @Nullable String field() {
    return null;
  }

  /**
   * A header field that names the caller and proves nothing: where there are trusted proxies, it
   * counts from them only.
   *
   * @param name the field's name
   */
  record Header(String name) implements ScopePart {
    @Override
    public String field() {
      return name;
    }
  }

  /**
   * A header field that is itself the proof, from whomever it comes: a token, an API key.
   *
   * @param name the field's name
   */
  record Credential(String name) implements ScopePart {
    @Override
    public String field() {
      return name;
    }
  }

  /** The subject of the client's certificate. */
  record CertificateSubject() implements ScopePart {}

  /**
   * A claim of the caller's verified token.
   *
   * @param name of a claim that is a string, a number or a truth value
   */
  record TokenClaim(String name) implements ScopePart {}

  /** The user of HTTP Basic authentication (RFC 7617), whose password somebody else checks. */
  record BasicUser() implements ScopePart {}

  /**
   * A header field of what the authorisation service answered.
   *
   * @param name the field's name
   */
  record Authorized(String name) implements ScopePart {}
}
