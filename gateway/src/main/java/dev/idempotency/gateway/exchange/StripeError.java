package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.JsonString;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.Response;

/**
 * An error in the form that libraries of payment APIs read: they tell its kind by status and {@code
 * type}, and go by {@code Stripe-Should-Retry} before anything else.
 */
final class StripeError {

  static final String SHOULD_RETRY = "Stripe-Should-Retry";

  private StripeError() {}

  static Response render(ProblemDetails problem) {
    String type = problem.type();
    int status = AnswerRule.Style.STRIPE.status(type, problem.status());
    StringBuilder json = new StringBuilder(256 + problem.detail().length());
    json.append("{\"error\":{\"type\":\"").append(kind(type, status));
    json.append("\",\"code\":\"").append(code(type));
    JsonString.quote(json.append("\",\"message\":"), problem.title() + ". " + problem.detail());
    JsonString.quote(json.append(",\"doc_url\":"), problem.documentation()).append("}}\n");
    // The same rule as Retry-After: only where a retry with the same key can succeed.
    boolean retry = problem.more().contains("Retry-After");
    return problem
        .with(SHOULD_RETRY, Boolean.toString(retry))
        .toResponse(status, AnswerRule.Style.STRIPE.contentType(), json.toString());
  }

  private static String kind(String type, int status) {
    return switch (type) {
      case "key-reused", "request-in-flight", "response-not-kept" -> "idempotency_error";
      case "outcome-unknown" -> "api_error";
      default -> status >= 500 ? "api_error" : "invalid_request_error";
    };
  }

  private static String code(String type) {
    return type.equals("request-in-flight") ? "idempotency_key_in_use" : type.replace('-', '_');
  }
}
