package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.Response;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the gateway speaks in its own name.
 *
 * @param style the form of its errors
 * @param cors who may read its answers in a browser; null where it says nothing of that
 */
public record AnswerRule(Style style, @Nullable Cors cors) {

  /** Problem details, and nothing for browsers. */
  public static final AnswerRule DEFAULT = new AnswerRule(Style.PROBLEM, null);

  /** The form of an error. */
  public enum Style {
    /** {@code application/problem+json} (RFC 9457). */
    PROBLEM,
    /** The {@code error} object that clients of payment APIs know. */
    STRIPE;

    /** The status with which an error of that type is told. */
    public int status(String type, int status) {
      // These clients take 422 for an error of the server's, and look for a reuse at 400.
      return this == STRIPE && type.equals("key-reused") ? 400 : status;
    }

    /** The media type of errors. */
    public String contentType() {
      return this == STRIPE ? "application/json" : ProblemDetails.CONTENT_TYPE;
    }
  }

  /**
   * Which pages may read answers (Fetch standard, CORS protocol).
   *
   * @param origins such as {@code https://app.example.com}; "*" for all
   * @param credentials whether they may send credentials
   */
  public record Cors(Set<String> origins, boolean credentials) {
    public Cors {
      origins = Set.copyOf(origins);
    }
  }

  /**
   * The error as this route says it.
   *
   * @param request the request's fields
   */
  Response render(ProblemDetails problem, Headers request) {
    Response response = style == Style.STRIPE ? StripeError.render(problem) : problem.toResponse();
    if (cors != null) {
      CrossOrigin.allow(cors, request, response.head().headers());
      CrossOrigin.expose(response.head().headers());
    }
    return response;
  }

  /** Lets pages that may read the answer read the gateway's own fields as well. */
  void expose(Headers answer) {
    if (cors != null) {
      CrossOrigin.expose(answer);
    }
  }

  /**
   * Makes a replay fit for the page that asks. Permissions made for one origin are not shown to
   * another; where the route itself allows that page, it gets its own, also where the first request
   * came from no page.
   */
  void readdress(Headers replay, Headers request) {
    String allowed = replay.get(CrossOrigin.ALLOW_ORIGIN);
    boolean right =
        allowed == null
            ? cors == null
            : allowed.equals("*") || allowed.equals(request.get("Origin"));
    if (!right) {
      CrossOrigin.readdress(cors, replay, request);
    }
    expose(replay);
  }
}
