package dev.idempotency.gateway.http;

import java.nio.charset.StandardCharsets;

/**
 * An error of the gateway itself, as {@code application/problem+json} (RFC 9457).
 *
 * @param type the stable last segment of the {@code type} URI, such as {@code key-missing}
 * @param status the HTTP status
 * @param title a short summary that is the same for every occurrence
 * @param detail what happened this time and what to do; never client data
 * @param more further header fields of the answer; not to be changed
 */
public record ProblemDetails(String type, int status, String title, String detail, Headers more) {

  /**
   * The page that every gateway serves about itself; {@code type} and {@code describedby} point at
   * its anchors, relative to the request (RFC 9457 §3.1.1).
   */
  public static final String PAGE = "/.well-known/idempotency";

  /** The media type of its own form. */
  public static final String CONTENT_TYPE = "application/problem+json";

  /** Without further header fields. */
  public ProblemDetails(String type, int status, String title, String detail) {
    this(type, status, title, detail, new Headers());
  }

  /** The same with {@code Retry-After}: a retry with the same key can succeed then. */
  public ProblemDetails after(long seconds) {
    return with("Retry-After", Long.toString(seconds));
  }

  /** The same with one more header field. */
  public ProblemDetails with(String name, String value) {
    Headers fields = more.copy();
    fields.add(name, value);
    return new ProblemDetails(type, status, title, detail, fields);
  }

  /** Where this type of error is explained: a reference that is relative to the request. */
  public String documentation() {
    return PAGE + '#' + type;
  }

  /** The response that tells the client. */
  public Response toResponse() {
    return toResponse(status, CONTENT_TYPE, toJson());
  }

  /** The same in another form, with the same further fields. */
  public Response toResponse(int otherStatus, String contentType, String body) {
    Headers headers =
        Headers.of(
            "Content-Type",
            contentType,
            "Cache-Control",
            "no-store",
            "Link",
            '<' + documentation() + ">; rel=\"describedby\"");
    more.forEach(headers::add);
    return Response.of(otherStatus, headers, body.getBytes(StandardCharsets.UTF_8));
  }

  private String toJson() {
    StringBuilder json = new StringBuilder(160 + detail.length());
    json.append("{\"type\":");
    JsonString.quote(json, documentation());
    json.append(",\"title\":");
    JsonString.quote(json, title);
    json.append(",\"status\":").append(status).append(",\"detail\":");
    JsonString.quote(json, detail);
    return json.append("}\n").toString();
  }
}
