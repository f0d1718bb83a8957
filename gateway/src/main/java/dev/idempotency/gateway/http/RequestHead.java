package dev.idempotency.gateway.http;

import org.jspecify.annotations.Nullable;

/**
 * The head of a request as the gateway judged it and as it goes upstream: routing, scope,
 * fingerprint and the outgoing request line all read these same strings.
 *
 * @param method the method, case-sensitive (RFC 9110 §9.1)
 * @param path the path of the target in origin-form, still percent-encoded, beginning with "/"
 * @param query the query without its "?", still percent-encoded; null where there is none
 * @param headers the header fields
 */
public record RequestHead(String method, String path, @Nullable String query, Headers headers) {

  /** Splits a target in origin-form (RFC 9112 §3.2.1). */
  public static RequestHead of(String method, String target, Headers headers) {
    int mark = target.indexOf('?');
    return mark < 0
        ? new RequestHead(method, target, null, headers)
        : new RequestHead(method, target.substring(0, mark), target.substring(mark + 1), headers);
  }

  /** The target in origin-form. */
  public String target() {
    return query == null ? path : path + '?' + query;
  }

  public RequestHead withHeaders(Headers other) {
    return new RequestHead(method, path, query, other);
  }
}
