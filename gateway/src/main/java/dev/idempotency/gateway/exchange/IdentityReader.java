package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.exchange.Admission.Admitted;
import dev.idempotency.gateway.exchange.Admission.Refused;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads who calls from what is known of a request: its head, its peer, and what others have said of
 * it.
 *
 * <p>Each part that is no field of the request is framed with its kind behind a NUL, which no field
 * can have, so that a claim "x" is never a header "x". Fields and certificates are not framed: they
 * are in the names of records that exist.
 */
final class IdentityReader {

  private static final String AUTHORIZATION = "Authorization";
  private static final String REALM = " realm=\"idempotency-gateway\"";

  /** For a client that shows a token, and where nothing better is known. */
  static final String BEARER = "Bearer" + REALM;

  private static final String BASIC = "Basic" + REALM + ", charset=\"UTF-8\"";

  private final Headers headers;
  private final Peer peer;
  private final boolean proxied;
  private final @Nullable Headers answered;
  private final @Nullable Function<String, @Nullable String> claims;
  private final List<@Nullable String> identity = new ArrayList<>(2);

  /**
   * @param proxied whether there are trusted proxies
   * @param answered fields of what the authorisation service answered; null where it said nothing
   * @param claims of the verified token; null where there is none
   */
  IdentityReader(
      Headers headers,
      Peer peer,
      boolean proxied,
      @Nullable Headers answered,
      @Nullable Function<String, @Nullable String> claims) {
    this.headers = headers;
    this.peer = peer;
    this.proxied = proxied;
    this.answered = answered;
    this.claims = claims;
  }

  /** Reads the parts of a scope; each must be there. */
  Admission read(List<ScopePart> scope) {
    if (scope.isEmpty()) {
      Refused repeated = repeated(AUTHORIZATION);
      String value = headers.get(AUTHORIZATION);
      identity.add(value == null ? null : CredentialText.of(value));
      return repeated == null ? admitted() : repeated;
    }
    for (int i = 0; i < scope.size(); i++) {
      Refused refused = read(scope.get(i));
      if (refused != null) {
        return refused;
      }
    }
    return admitted();
  }

  private Admission admitted() {
    return new Admitted(new Caller(identity));
  }

  private @Nullable Refused read(ScopePart part) {
    if (part instanceof ScopePart.Credential credential) {
      return credential(credential.name());
    } else if (part instanceof ScopePart.Header header) {
      return header(header.name());
    } else if (part instanceof ScopePart.CertificateSubject) {
      return certificate();
    } else if (part instanceof ScopePart.TokenClaim claim) {
      return claim(claim.name());
    } else if (part instanceof ScopePart.BasicUser) {
      return basicUser();
    }
    return authorized(((ScopePart.Authorized) part).name());
  }

  private @Nullable Refused header(String name) {
    return isBelieved() ? field(name) : notBelieved("whom the header " + name + " names", BEARER);
  }

  /** Anybody can write a name; where proxies write it, nobody else may. */
  private boolean isBelieved() {
    return !proxied || peer.trusted();
  }

  private static Refused notBelieved(String owner, String challenge) {
    return missing(
        Problems.identityMissing(owner, "that is believed only from trusted proxies", challenge));
  }

  private @Nullable Refused credential(String name) {
    return field(name);
  }

  private @Nullable Refused field(String name) {
    Refused repeated = repeated(name);
    if (repeated != null) {
      return repeated;
    }
    String value = headers.get(name);
    if (value == null || value.isBlank()) {
      return missing(
          Problems.identityMissing("whom the header " + name + " names", "it is missing", BEARER));
    }
    identity.add(name.equalsIgnoreCase(AUTHORIZATION) ? CredentialText.of(value) : value);
    return null;
  }

  private @Nullable Refused repeated(String name) {
    int count = headers.count(name);
    return count <= 1
        ? null
        : new Refused(
            Result.BAD_REQUEST,
            Problems.badRequest("The header " + name + " is sent " + count + " times."));
  }

  private @Nullable Refused certificate() {
    if (peer.subject() == null) {
      return missing(
          Problems.identityMissing(
              "the subject of the client's certificate", "none was shown", BEARER));
    }
    identity.add(peer.subject());
    return null;
  }

  private @Nullable Refused claim(String name) {
    String value = claims == null ? null : claims.apply(name);
    if (value == null || value.isBlank() || !isWellFormed(value)) {
      return missing(
          Problems.identityMissing(
              "whom the claim " + name + " of the token names",
              "the token has no such claim of one text or number",
              BEARER));
    }
    String issuer = claims == null ? null : claims.apply("iss");
    identity.add(framed("claim", name, issuer == null ? "" : issuer, value));
    return null;
  }

  private @Nullable Refused basicUser() {
    Refused repeated = repeated(AUTHORIZATION);
    if (repeated != null) {
      return repeated;
    }
    String owner = "the user of HTTP Basic authentication";
    // Its password is checked by whoever stands before this gateway, or by the service it asks.
    if (answered == null && !proxied) {
      // That service is away: a name without its password must not open what is stored.
      return unasked();
    }
    if (answered == null && !isBelieved()) {
      return notBelieved(owner, BASIC);
    }
    String value = headers.get(AUTHORIZATION);
    String token = value == null ? null : CredentialText.behind("Basic", value);
    if (token == null) {
      return missing(
          Problems.identityMissing(owner, "no credentials of that kind were sent", BASIC));
    }
    BasicCredentials read = BasicCredentials.read(token);
    if (read instanceof BasicCredentials.Malformed malformed) {
      return new Refused(
          Result.IDENTITY_INVALID, Problems.identityInvalid(malformed.reason(), BASIC));
    }
    identity.add(framed("basic", ((BasicCredentials.User) read).name()));
    return null;
  }

  private static Refused unasked() {
    return new Refused(
        Result.AUTHORIZATION_UNAVAILABLE,
        Problems.authorizationUnavailable("the authorisation service did not say who calls"));
  }

  private @Nullable Refused authorized(String name) {
    if (answered == null) {
      return unasked();
    }
    String value = answered.get(name);
    if (value == null || value.isBlank() || answered.count(name) > 1) {
      return missing(
          Problems.identityMissing(
              "whom the header " + name + " of the authorisation service's answer names",
              "the answer does not have it once",
              BEARER));
    }
    identity.add(framed("authorized", name.toLowerCase(Locale.ROOT), value));
    return null;
  }

  /** Each text stands behind its length, so that no two lists of texts run together. */
  private static String framed(String kind, String... texts) {
    StringBuilder framed = new StringBuilder("\0").append(kind);
    for (String text : texts) {
      framed.append(':').append(text.length()).append(':').append(text);
    }
    return framed.toString();
  }

  /** Half a surrogate pair has no bytes of its own: two such texts would be one. */
  private static boolean isWellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        return false;
      }
    }
    return true;
  }

  private static Refused missing(ProblemDetails problem) {
    return new Refused(Result.IDENTITY_MISSING, problem);
  }
}
