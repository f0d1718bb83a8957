package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Asks who a caller is and what it may do, where a route wants others to say so: first the
 * authorisation service, then whoever verifies tokens, and then the request itself.
 */
final class Inquiry {

  private final Exchanges exchanges;
  private final Route.Callers callers;
  private final Course course;
  private final Headers headers;
  private final Peer peer;
  private final boolean keyed;
  private final Consumer<Admission> told;
  private @Nullable Headers answered;

  /**
   * @param keyed whether the request has a key, so that it matters whose that is
   * @param told hears what came of it, once
   */
  Inquiry(
      Exchanges exchanges,
      Route.Callers callers,
      Course course,
      Peer peer,
      boolean keyed,
      Consumer<Admission> told) {
    this.exchanges = exchanges;
    this.callers = callers;
    this.course = course;
    this.headers = course.head().headers();
    this.peer = peer;
    this.keyed = keyed;
    this.told = told;
  }

  /** Whether somebody must be asked about a request. */
  static boolean isDue(Route.Callers callers, boolean keyed) {
    return callers.authorizer() != null || (keyed && callers.tokens() != null);
  }

  void begin() {
    Authorizer authorizer = callers.authorizer();
    if (authorizer == null) {
      verify();
    } else {
      authorizer.authorize(course.head(), peer, decision -> decided(authorizer, decision));
    }
  }

  private void decided(Authorizer authorizer, Authorizer.Decision decision) {
    if (decision instanceof Authorizer.Decision.Denied denied) {
      told.accept(new Admission.Denied(denied.response()));
    } else if (decision instanceof Authorizer.Decision.Unavailable unavailable) {
      if (unavailable.open()) {
        verify();
      } else {
        unavailable(unavailable.reason());
      }
    } else {
      Headers said = ((Authorizer.Decision.Allowed) decision).answered();
      answered = said;
      Headers granted = said.copy();
      granted.removeIf((name, v) -> !authorizer.copied().contains(name.toLowerCase(Locale.ROOT)));
      course.grant(granted);
      verify();
    }
  }

  private void verify() {
    TokenVerifier tokens = callers.tokens();
    if (tokens == null || !keyed) {
      identify(null);
      return;
    }
    int count = headers.count("Authorization");
    String value = headers.get("Authorization");
    String token = value == null ? null : CredentialText.behind("Bearer", value);
    if (count > 1) {
      String detail = "The header Authorization is sent " + count + " times.";
      refuse(Result.BAD_REQUEST, Problems.badRequest(detail));
    } else if (token == null) {
      refuse(Result.IDENTITY_MISSING, Problems.tokenMissing(IdentityReader.BEARER));
    } else {
      tokens.verify(token, this::verified);
    }
  }

  private void verified(TokenVerifier.Verdict verdict) {
    if (verdict instanceof TokenVerifier.Verdict.Invalid invalid) {
      // RFC 6750 §3.1.
      String challenge = IdentityReader.BEARER + ", error=\"invalid_token\"";
      refuse(
          Result.IDENTITY_INVALID,
          Problems.identityInvalid("The token does not count: " + invalid.reason(), challenge));
    } else if (verdict instanceof TokenVerifier.Verdict.Unavailable unavailable) {
      unavailable(unavailable.reason());
    } else {
      identify(((TokenVerifier.Verdict.Valid) verdict).claims());
    }
  }

  private void identify(@Nullable Function<String, @Nullable String> claims) {
    if (!keyed) {
      // Nothing is stored, so it does not matter whose it is.
      told.accept(new Admission.Admitted(Caller.ANYBODY));
      return;
    }
    IdentityReader reader = new IdentityReader(headers, peer, exchanges.proxied, answered, claims);
    told.accept(reader.read(callers.scope()));
  }

  private void unavailable(String reason) {
    refuse(Result.AUTHORIZATION_UNAVAILABLE, Problems.authorizationUnavailable(reason));
  }

  private void refuse(Result result, ProblemDetails problem) {
    told.accept(new Admission.Refused(result, problem));
  }
}
