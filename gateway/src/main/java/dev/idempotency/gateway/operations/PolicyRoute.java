package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.AnswerRule;
import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.http.ProblemType;
import dev.idempotency.gateway.idempotency.KeySyntax;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What clients may know of a route with keys.
 *
 * @param path the pattern of its paths
 * @param required whether requests without a key are refused
 * @param keys where keys come from and what they must be
 * @param scope whose key it is; empty: the route's default
 * @param retention how long an answer is replayed
 * @param patience how long a duplicate waits for an operation in flight; zero: not at all
 * @param style the form of errors
 * @param errors the types of errors that requests with a key can meet here
 * @param bodyLimit most bytes of a request's body
 * @param expires whether answers say when they are replayed no longer
 */
public record PolicyRoute(
    String name,
    List<String> methods,
    String path,
    boolean required,
    KeyRule keys,
    List<ScopePart> scope,
    Duration retention,
    Duration patience,
    UnknownPolicy unknown,
    AnswerRule.Style style,
    List<ProblemType> errors,
    long bodyLimit,
    boolean expires) {

  /** What is answered before there is a route, or is of no interest to who sends a key. */
  private static final Set<String> OF_NO_ROUTE =
      Set.of(
          "no-route",
          "method-not-allowed",
          "request-timeout",
          "uri-too-long",
          "expectation-failed",
          "misdirected-request",
          "headers-too-large",
          "not-implemented",
          "version-not-supported");

  /** Of a route with keys. */
  public static PolicyRoute of(Route route) {
    return new PolicyRoute(
        route.name(),
        route.methods().stream().sorted().toList(),
        route.path().toString(),
        route.keying() == Route.Keying.REQUIRED,
        route.keys(),
        route.callers().scope(),
        route.retention(),
        route.waiting().patience(),
        route.unknown(),
        route.answers().style(),
        ProblemType.all().stream().filter(type -> isMet(type.name(), route)).toList(),
        route.requestLimit(),
        route.copy().expires());
  }

  private static boolean isMet(String type, Route route) {
    Route.Callers callers = route.callers();
    boolean authorizes = callers.authorizer() != null || callers.tokens() != null;
    return switch (type) {
      case "key-missing" -> isKeyDemanded(route);
      case "key-expired" -> route.keys().age() != null;
      case "identity-missing" -> !callers.scope().isEmpty();
      case "identity-invalid" ->
          callers.tokens() != null
              || callers.scope().stream().anyMatch(ScopePart.BasicUser.class::isInstance);
      case "authorization-unavailable" -> authorizes;
      case "quota-exceeded" -> callers.quota() != null;
      default -> !OF_NO_ROUTE.contains(type);
    };
  }

  private static boolean isKeyDemanded(Route route) {
    return route.keying() == Route.Keying.REQUIRED && route.keys().derived().isZero();
  }

  /** Whether keys are read as structured fields only. */
  boolean isStrict() {
    return keys.syntax() != KeySyntax.LENIENT;
  }

  /** Whose key it is, in words. */
  List<String> scopeInWords() {
    if (scope.isEmpty()) {
      return List.of("the header Authorization, where there is one");
    }
    List<String> words = new ArrayList<>();
    for (ScopePart part : scope) {
      words.add(inWords(part));
    }
    return words;
  }

  private static String inWords(ScopePart part) {
    if (part instanceof ScopePart.Header header) {
      return "the header " + header.name();
    } else if (part instanceof ScopePart.Credential credential) {
      return "the credentials in the header " + credential.name();
    } else if (part instanceof ScopePart.CertificateSubject) {
      return "the subject of the client's certificate";
    } else if (part instanceof ScopePart.TokenClaim claim) {
      return "the claim " + claim.name() + " of the caller's token";
    } else if (part instanceof ScopePart.BasicUser) {
      return "the user of HTTP Basic authentication";
    }
    // What the authorisation service is asked, and what it answers, is nobody's business.
    return "what the authorisation service says of the caller";
  }
}
