package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HopByHop;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What of an upstream's response fields the first caller gets, what is kept, what a replay shows.
 */
final class ResponseFields {

  static final String REPLAYED = "Idempotent-Replayed";
  static final String BYPASSED = "Idempotency-Bypassed";
  static final String DERIVED = "Idempotency-Key-Derived";

  /** Says that the body is not the one that the first caller got. */
  static final String REDACTED = "Idempotency-Redacted";

  /** Belong to the first exchange: credentials, challenges, quotas and traces (RFC 9110 §11.6). */
  private static final Set<String> NOT_KEPT =
      Set.of(
          "set-cookie",
          "set-cookie2",
          "www-authenticate",
          "authentication-info",
          "age",
          "alt-svc",
          "server-timing",
          "ratelimit",
          "x-request-id",
          "x-correlation-id",
          "x-trace-id",
          "x-b3-traceid",
          "x-b3-spanid",
          "b3",
          "uber-trace-id",
          "x-amzn-trace-id",
          "x-cloud-trace-context",
          "traceparent",
          "tracestate",
          "traceresponse",
          "request-id");

  /** Vouch for the bytes of the whole body (RFC 9110 §8.8.3, RFC 9530, RFC 9421). */
  private static final Set<String> OF_THE_WHOLE =
      Set.of(
          "etag",
          "digest",
          "content-digest",
          "repr-digest",
          "content-md5",
          "signature",
          "signature-input");

  private ResponseFields() {}

  /**
   * The head that the first caller gets: without hop-by-hop, framing and the gateway's own fields.
   */
  static ResponseHead endToEnd(ResponseHead head) {
    Headers received = head.headers();
    List<String> nominated = received.all("connection");
    Headers kept = new Headers();
    for (int i = 0; i < received.size(); i++) {
      String name = received.name(i);
      if (!HopByHop.isHopByHop(name)
          && !isGatewaysOwn(name)
          && (nominated.isEmpty() || !HopByHop.isNominated(nominated, name))) {
        kept.add(name, received.value(i));
      }
    }
    return new ResponseHead(head.status(), kept);
  }

  /** What {@code Connection} nominates, for the trailers that follow the head. */
  static List<String> nominated(ResponseHead head) {
    Headers fields = head.headers();
    return fields.contains("Connection") ? fields.all("Connection") : List.of();
  }

  /**
   * Trailer fields that may be shown: none that frame, route or speak for the gateway, and none
   * that belong to the connection (RFC 9110 §7.6.1).
   *
   * @param nominated by the head before them
   */
  static Headers trailers(Headers received, List<String> nominated) {
    if (!received.isEmpty()) {
      received.removeIf(
          (name, value) ->
              HopByHop.isHopByHop(name)
                  || isGatewaysOwn(name)
                  || HopByHop.isNominated(nominated, name));
    }
    return received;
  }

  private static boolean isGatewaysOwn(String name) {
    return switch (name.length()) {
      case 14 -> name.equalsIgnoreCase("Content-Length");
      case 19 -> name.equalsIgnoreCase(REPLAYED) || name.equalsIgnoreCase(OutcomePolicy.HEADER);
      case 20 -> name.equalsIgnoreCase(BYPASSED) || name.equalsIgnoreCase(REDACTED);
      case 23 -> name.equalsIgnoreCase(DERIVED);
      default -> false;
    };
  }

  /**
   * The copy to store, from a head that went through {@link #endToEnd}; null where the rule wants
   * something taken out of the body and nobody can tell where it is.
   */
  static @Nullable StoredResponse stored(
      ResponseHead head, byte[] body, Headers trailers, CopyRule rule) {
    Headers headers = kept(head.headers(), rule);
    Headers keptTrailers = kept(trailers, rule);
    byte[] keptBody = rule.redactor() == null ? body : rule.redactor().redact(head.headers(), body);
    if (keptBody == null) {
      return null;
    }
    if (keptBody != body) {
      headers.removeIf((name, value) -> isOfTheWhole(name));
      keptTrailers.removeIf((name, value) -> isOfTheWhole(name));
      headers.add(REDACTED, "true");
    }
    return new StoredResponse(head.status(), headers, keptBody, keptTrailers);
  }

  private static boolean isOfTheWhole(String name) {
    return OF_THE_WHOLE.contains(name.toLowerCase(Locale.ROOT));
  }

  private static Headers kept(Headers fields, CopyRule rule) {
    Headers kept = new Headers();
    fields.forEach(
        (name, value) -> {
          String lower = name.toLowerCase(Locale.ROOT);
          // A field that is named both ways is not kept: that errs on the safe side.
          if ((isKept(lower) || rule.keep().contains(lower)) && !rule.drop().contains(lower)) {
            kept.add(name, value);
          }
        });
    return kept;
  }

  private static boolean isKept(String lower) {
    return !NOT_KEPT.contains(lower)
        && !lower.startsWith("ratelimit-")
        && !lower.startsWith("x-ratelimit-")
        && !lower.startsWith("x-rate-limit-");
  }

  /**
   * The replay for a request. Permissions made for one origin are not shown to another (Fetch
   * standard, CORS protocol).
   */
  static Response replay(StoredResponse stored, Headers request) {
    Response response = stored.toResponse();
    Headers headers = response.head().headers();
    String allowed = headers.get("Access-Control-Allow-Origin");
    if (allowed != null && !allowed.equals("*") && !allowed.equals(request.get("Origin"))) {
      headers.removeIf((name, value) -> name.regionMatches(true, 0, "Access-Control-", 0, 15));
    }
    headers.add(REPLAYED, "true");
    return response;
  }
}
