package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import dev.idempotency.gateway.idempotency.KeyPattern;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The gateway's own errors, as contract and README name them. */
public final class Problems {

  private static final String EXAMPLE = "8e03978e-40d5-43dd-bc93-6894a57f9324";

  /** Nobody is told to wait longer before it asks again. */
  private static final long LONGEST_RECOVERY_MILLIS = 60_000;

  private Problems() {}

  static ProblemDetails keyMissing(KeyRule rule) {
    String places = rule.sources().stream().map(KeySource::place).collect(Collectors.joining(", "));
    return problem(
        "key-missing",
        400,
        "An idempotency key is required",
        (rule.sources().size() == 1
                ? sentence(places) + " is missing. "
                : "None of these has a key: " + places + ". ")
            + rightKey(rule));
  }

  /**
   * 400.
   *
   * @param reason what is wrong and where, without the bytes that came
   */
  static ProblemDetails keyInvalid(KeyRule rule, String reason) {
    return keyInvalid(sentence(reason) + ". " + rightKey(rule));
  }

  /**
   * 400: the key itself is of the right form, the time of it is not.
   *
   * @param reason what is wrong and where, without the bytes that came
   */
  static ProblemDetails keyTimeInvalid(String reason) {
    return keyInvalid(sentence(reason) + '.');
  }

  private static ProblemDetails keyInvalid(String detail) {
    return problem("key-invalid", 400, "The idempotency key is malformed", detail);
  }

  private static String sentence(String text) {
    return Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }

  private static String rightKey(KeyRule rule) {
    boolean any = rule.pattern() == KeyPattern.ANY;
    return "A right one "
        + (any ? "has 1 to 255 visible ASCII characters" : "is " + rule.pattern().expected())
        + ", is new for each operation and the same for each retry of it"
        + (any ? ", such as a UUID: " + rule.sources().get(0).example(EXAMPLE) : ".");
  }

  /** 412: there may have been a record of it, and it may be gone. */
  static ProblemDetails keyExpired() {
    return problem(
        "key-expired",
        412,
        "The idempotency key is too old",
        "Responses are not kept for so long. If the operation was sent before, look up what became"
            + " of it; a new operation needs a new key.");
  }

  /** 400: not a request that can be judged. */
  public static ProblemDetails badRequest(String detail) {
    return problem("bad-request", 400, "The request is malformed", detail);
  }

  /** 400: bytes of a WebSocket before the WebSocket. */
  static ProblemDetails tooEarly() {
    return badRequest("More was sent before the request for a WebSocket had been answered.");
  }

  /**
   * 401: nothing says whose key it is.
   *
   * @param owner whose a key is here: "whom the header X names"
   * @param missing why it is nobody's
   * @param challenge what the client may prove itself with (RFC 9110 §11.6.1)
   */
  static ProblemDetails identityMissing(String owner, String missing, String challenge) {
    return problem(
            "identity-missing",
            401,
            "The caller's identity is missing",
            "A key on this route belongs to " + owner + "; " + missing + '.')
        .with("WWW-Authenticate", challenge);
  }

  /** 401: there is no token. */
  static ProblemDetails tokenMissing(String challenge) {
    return identityMissing(
        "whom the caller's token names", "no header Authorization with Bearer was sent", challenge);
  }

  /**
   * 401: what says whose key it is does not count.
   *
   * @param reason nothing of the credentials
   */
  static ProblemDetails identityInvalid(String reason, String challenge) {
    return problem("identity-invalid", 401, "The caller's identity is not proven", reason + '.')
        .with("WWW-Authenticate", challenge);
  }

  /** 503: who the caller is, or what it may do, could not be found out. */
  static ProblemDetails authorizationUnavailable(String reason) {
    return problem(
            "authorization-unavailable",
            503,
            "The caller's rights can't be looked up",
            "Nothing was sent: " + reason + ". Retry with the same key.")
        .after(1);
  }

  /** 429: the caller has too many operations. */
  static ProblemDetails quotaExceeded(Quota.Answer.Spent spent) {
    return problem(
            "quota-exceeded",
            429,
            "Too many operations",
            "Nothing was sent: " + spent.reason() + ". Retry with the same key.")
        .after(seconds(spent.retryAfter()));
  }

  static ProblemDetails noRoute() {
    return problem(
        "no-route", 404, "No route takes this request", "No route is configured for this path.");
  }

  static ProblemDetails inFlight(Duration leaseLeft) {
    return new ProblemDetails(
            "request-in-flight",
            409,
            "The operation is in flight",
            "Another request with this key is being processed. Retry with the same key.")
        .after(seconds(leaseLeft));
  }

  /**
   * The same where the upstream is asked.
   *
   * @param left until it is asked again
   */
  static ProblemDetails outcomeUnknown(Duration left) {
    return problem(
            "outcome-unknown",
            409,
            "The operation's outcome is unknown",
            "An earlier request with this key was sent on and its outcome is not known yet. The"
                + " service is asked what became of it: retry with the same key.")
        .after(seconds(left));
  }

  static ProblemDetails outcomeUnknown() {
    return problem(
        "outcome-unknown",
        409,
        "The operation's outcome is unknown",
        "An earlier request with this key was sent on and its outcome is not known. It will not be"
            + " executed again under this key: look up what became of it.");
  }

  static ProblemDetails responseNotKept(int status) {
    return problem(
        "response-not-kept",
        409,
        "The operation is done, its response was not kept",
        "An earlier request with this key was answered with status "
            + status
            + "; its response was not kept.");
  }

  /**
   * 422.
   *
   * @param parts in what the request differs; empty where nobody can say
   */
  static ProblemDetails keyReused(Set<Part> parts) {
    String other =
        parts.isEmpty()
            ? "This key belongs to a request with another method, path, query, media type or body."
            : "This key belongs to another request. " + differing(parts);
    return problem(
        "key-reused",
        422,
        "The idempotency key is used for another request",
        other + " Use a new key for a new operation.");
  }

  /** Such as "The query and the body differ." */
  private static String differing(Set<Part> parts) {
    List<String> names = new ArrayList<>();
    for (Part part : Part.values()) {
      if (parts.contains(part)) {
        names.add(name(part));
      }
    }
    int last = names.size() - 1;
    String text =
        last == 0
            ? names.get(0)
            : String.join(", ", names.subList(0, last)) + " and " + names.get(last);
    boolean one = last == 0 && !parts.contains(Part.HEADERS);
    return "T" + text.substring(1) + (one ? " differs." : " differ.");
  }

  private static String name(Part part) {
    return switch (part) {
      case TARGET -> "the method or path";
      case QUERY -> "the query";
      case HEADERS -> "the headers that count";
      case BODY -> "the body";
    };
  }

  /** 413. */
  static ProblemDetails bodyTooLarge(long limit) {
    return problem(
        "body-too-large",
        413,
        "The body is too large",
        "A request with a key may have at most " + limit + " bytes of body here.");
  }

  /** 413: a coded body that would be larger than allowed without its coding. */
  static ProblemDetails bodyTooLargeDecoded(long limit) {
    return problem(
        "body-too-large",
        413,
        "The body is too large",
        "A request with a key may have at most "
            + limit
            + " bytes of body here, also when its Content-Encoding is undone.");
  }

  static ProblemDetails unreachable(Upstream.Refusal refusal) {
    boolean ours =
        refusal == Upstream.Refusal.QUEUE_FULL || refusal == Upstream.Refusal.QUEUE_TIMEOUT;
    if (refusal == Upstream.Refusal.CLOSED) {
      return shuttingDown();
    }
    return new ProblemDetails(
            ours ? "overloaded" : "upstream-unreachable",
            ours ? 503 : 502,
            ours ? "The gateway is overloaded" : "The upstream can't be reached",
            "Nothing was sent: " + refusal.text() + ". Retry with the same key.")
        .after(1);
  }

  /** 503: the request was sent, and the upstream has surely not acted on it. */
  static ProblemDetails notProcessed() {
    return new ProblemDetails(
            "upstream-unreachable",
            503,
            "The upstream took no request",
            "Nothing was executed: "
                + ResponseReceiver.Failure.NOT_PROCESSED.text()
                + ". Retry with the same key.")
        .after(1);
  }

  static ProblemDetails sentAndLost(ResponseReceiver.Failure failure) {
    return problem(
        "outcome-unknown",
        failure == ResponseReceiver.Failure.TIMEOUT ? 504 : 502,
        "The operation's outcome is unknown",
        "The request was sent, but " + failure.text() + ".");
  }

  /** Told to nobody: for the log. */
  static ProblemDetails requestCutOff() {
    return badRequest("The request was cut off.");
  }

  static ProblemDetails storeUnavailable() {
    return new ProblemDetails(
            "store-unavailable",
            503,
            "The store of keys can't be reached",
            "Nothing was sent. Retry with the same key.")
        .after(1);
  }

  /**
   * 503: the store may have forgotten operations.
   *
   * @param rest for how long nothing new is begun yet, in milliseconds
   */
  static ProblemDetails storeRecovering(long rest) {
    return new ProblemDetails(
            "store-recovering",
            503,
            "The store of keys may have lost some",
            "Nothing was sent: whether this operation was begun before can't be told yet."
                + " Retry with the same key.")
        .after(seconds(Duration.ofMillis(Math.min(rest, LONGEST_RECOVERY_MILLIS))));
  }

  /** 503: no place is left. */
  public static ProblemDetails overloaded(String detail) {
    return new ProblemDetails("overloaded", 503, "The gateway is overloaded", detail).after(1);
  }

  /** 503: the gateway is stopping and surely sent nothing. */
  static ProblemDetails shuttingDown() {
    return new ProblemDetails(
            "shutting-down",
            503,
            "The gateway is shutting down",
            "Nothing was sent. Retry with the same key.")
        .after(1);
  }

  static ProblemDetails stoppedWhileSent() {
    return problem(
        "outcome-unknown",
        502,
        "The operation's outcome is unknown",
        "The request was sent, but the gateway stopped before the response came.");
  }

  private static ProblemDetails problem(String type, int status, String title, String detail) {
    return new ProblemDetails(type, status, title, detail);
  }

  /** Whole seconds, rounded up, at least one (RFC 9110 §10.2.3). */
  private static long seconds(Duration duration) {
    return Math.max(1, (duration.toMillis() + 999) / 1000);
  }
}
