package dev.idempotency.gateway.http;

import java.util.List;

/**
 * One kind of error of the gateway itself, as it is documented: the only list of them, from which
 * the page about the gateway is made.
 *
 * @param name the last segment of {@code type}, and the anchor on the page
 * @param statuses with which it comes, in rising order
 * @param title a short summary
 * @param meaning what happened
 * @param advice what a client does about it
 */
public record ProblemType(
    String name, List<Integer> statuses, String title, String meaning, String advice) {

  private static final String SAME = "Send the same request with the same key again.";

  private static final List<ProblemType> ALL =
      List.of(
          of(
              "key-missing",
              "An idempotency key is required",
              "The operation needs a key and the request has none.",
              "Send one: new for each operation, the same for each retry of it.",
              400),
          of(
              "key-invalid",
              "The idempotency key is malformed",
              "The key is empty, longer than 255 characters, given twice, has characters outside"
                  + " visible ASCII, or is not of the form that is asked for here. The detail says"
                  + " which.",
              "Correct the key. A UUID is right everywhere.",
              400),
          of(
              "key-expired",
              "The idempotency key is too old",
              "Keys count for a limited time here, and that of this key is over: whether its"
                  + " operation was executed can't be told any more. Nothing was sent on.",
              "Look up what became of the operation. Use a new key for a new one.",
              412),
          of(
              "bad-request",
              "The request is malformed",
              "The request is not valid HTTP, or can be read in two ways.",
              "Correct the request.",
              400),
          of(
              "identity-missing",
              "The caller's identity is missing",
              "Keys belong to a caller, and the request does not say who calls.",
              "Send the credentials that the detail names.",
              401),
          of(
              "identity-invalid",
              "The caller's identity is not valid",
              "The credentials can't be read, are not genuine, or count no longer.",
              "Get new credentials and send the same request with the same key again.",
              401),
          of(
              "no-route",
              "No route takes this request",
              "The gateway is not configured for this path.",
              "Correct the path.",
              404),
          of(
              "method-not-allowed",
              "The method is not allowed",
              "TRACE is not answered.",
              "Use a method that the header Allow names.",
              405),
          of(
              "request-timeout",
              "The request took too long",
              "The request did not arrive in time. Nothing was sent on, unless its body streams.",
              SAME,
              408),
          of(
              "request-in-flight",
              "The operation is in flight",
              "An earlier request with this key is still being processed.",
              "Wait for Retry-After and send the same request with the same key again.",
              409),
          of(
              "outcome-unknown",
              "The operation's outcome is unknown",
              "A request with this key was sent on, and no answer came back. It may have been"
                  + " executed. It is never executed again under this key without somebody's word.",
              "Look up what became of it; do not simply use a new key.",
              409,
              502,
              504),
          of(
              "response-not-kept",
              "The operation is done, its response was not kept",
              "The operation was executed. Its response is not there for a replay: it was too"
                  + " large, or its request was not seen whole.",
              "Read the result in another way. A retry changes nothing.",
              409),
          of(
              "body-too-large",
              "The body is too large",
              "The body is larger than requests with a key may be here.",
              "Send less.",
              413),
          of(
              "uri-too-long",
              "The request line is too long",
              "The target is longer than is read here.",
              "Shorten it.",
              414),
          of(
              "expectation-failed",
              "The expectation can't be met",
              "The only expectation that is supported is 100-continue.",
              "Send the request without the header Expect.",
              417),
          of(
              "misdirected-request",
              "The host is not served here",
              "The host that the request names is not behind this gateway.",
              "Send the request where that host is.",
              421),
          of(
              "key-reused",
              "The idempotency key is used for another request",
              "The key was used before for a request that asks for something else.",
              "Use a new key for a new operation, and send a retry exactly as the first request.",
              422),
          of(
              "quota-exceeded",
              "Too many operations were begun",
              "The caller has begun more new operations than it may, or has too many unfinished."
                  + " Nothing was sent on. Retries of operations that were begun are still answered.",
              "Wait for Retry-After and send the same request with the same key again.",
              429),
          of(
              "headers-too-large",
              "The header fields are too large",
              "The header fields are too many or too large.",
              "Send fewer or shorter ones.",
              431),
          of(
              "not-implemented",
              "The request is not supported",
              "The method, or a way of sending the body, is not supported.",
              "The detail says what to use.",
              501),
          of(
              "upstream-unreachable",
              "The upstream can't be reached",
              "No connection to the service could be made, or the service said that it has not"
                  + " processed the request. Nothing was executed.",
              SAME,
              502,
              503),
          of(
              "store-unavailable",
              "The store of keys can't be reached",
              "The operation can't be protected at the moment. Nothing was sent on.",
              SAME,
              503),
          of(
              "store-recovering",
              "The store of keys may have lost some",
              "The store was replaced or restarted a moment ago, and may have forgotten operations."
                  + " Until those that are under way have shown themselves, nothing new is begun."
                  + " Nothing was sent on.",
              "Wait for Retry-After and send the same request with the same key again.",
              503),
          of(
              "authorization-unavailable",
              "The caller can't be checked",
              "The service that knows who may call does not answer. Nothing was sent on.",
              SAME,
              503),
          of(
              "overloaded",
              "The gateway is overloaded",
              "Too much is going on. Nothing was sent on.",
              SAME,
              503),
          of(
              "shutting-down",
              "The gateway is shutting down",
              "The gateway is stopping. Nothing was sent on.",
              SAME,
              503),
          of(
              "version-not-supported",
              "The HTTP version is not supported",
              "The request is of a version of HTTP that is not spoken here.",
              "Use HTTP/1.1 or HTTP/2.",
              505));

  public ProblemType {
    statuses = List.copyOf(statuses);
  }

  private static ProblemType of(
      String name, String title, String meaning, String advice, Integer... statuses) {
    return new ProblemType(name, List.of(statuses), title, meaning, advice);
  }

  /** All there are, by status. */
  public static List<ProblemType> all() {
    return ALL;
  }
}
