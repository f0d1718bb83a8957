package dev.idempotency.gateway.exchange;

/** Where a part of the identity comes from that a key belongs to. */
public sealed interface ScopePart {

  /**
   * A header field of the request.
   *
   * @param name the field's name
   */
  record Header(String name) implements ScopePart {}

  /** The subject of the client's certificate. */
  record CertificateSubject() implements ScopePart {}
}
