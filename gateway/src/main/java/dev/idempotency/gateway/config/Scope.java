package dev.idempotency.gateway.config;

/** A part of the identity that a key belongs to. The text of each reads as the same part. */
public sealed interface Scope {

  /** The field that HTTP itself has for credentials. */
  String AUTHORIZATION = "Authorization";

  /**
   * A header field that names the caller and proves nothing.
   *
   * @param name the name of an end-to-end field
   */
  record Header(String name) implements Scope {
    @Override
    public String toString() {
      return "header:" + name;
    }
  }

  /**
   * A header field that is itself the proof: a token, an API key.
   *
   * @param name the name of a field
   */
  record Credential(String name) implements Scope {
    @Override
    public String toString() {
      return name.equals(AUTHORIZATION) ? "credential" : "credential:" + name;
    }
  }

  /** The subject of the client's certificate. */
  record CertificateSubject() implements Scope {
    @Override
    public String toString() {
      return "certificate:subject";
    }
  }

  /**
   * A claim of the caller's verified token.
   *
   * @param name 1 to 128 characters of visible ASCII
   */
  record TokenClaim(String name) implements Scope {
    @Override
    public String toString() {
      return "jwt:" + name;
    }
  }

  /** The user of HTTP Basic authentication, whose password somebody else checks. */
  record BasicUser() implements Scope {
    @Override
    public String toString() {
      return "basic:user";
    }
  }

  /**
   * A header field of what the authorisation service answered.
   *
   * @param name the name of an end-to-end field
   */
  record Authorized(String name) implements Scope {
    @Override
    public String toString() {
      return "auth:" + name;
    }
  }
}
