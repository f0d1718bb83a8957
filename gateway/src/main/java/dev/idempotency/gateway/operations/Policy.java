package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.PublicPage;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the gateway says of itself to clients: which operations take keys, and what its errors mean.
 * As JSON; as HTML where that is preferred (RFC 9110 §12.5.1). The same for everybody, and made
 * when it is asked for first: most gateways start without being asked.
 */
public final class Policy implements PublicPage {

  static final String SPECIFICATION = "draft-ietf-httpapi-idempotency-key-header-07";

  /** What answers may carry. */
  static final List<String> RESPONSE_HEADERS =
      List.of(
          "Idempotent-Replayed",
          "Idempotency-Key-Derived",
          "Idempotency-Expires",
          "Idempotency-Original-Trace",
          "Idempotency-Bypassed",
          "Idempotency-Redacted");

  private final List<PolicyRoute> routes;

  /** Event loops that ask at once make equal ones, and it does not matter whose stays. */
  private volatile @Nullable Page json;

  private volatile @Nullable Page html;

  /** A form of the document. */
  private record Page(Headers headers, byte[] body, String tag) {

    static Page of(String contentType, String text) {
      byte[] body = text.getBytes(StandardCharsets.UTF_8);
      String tag = '"' + HexFormat.of().formatHex(sha256(body), 0, 8) + '"';
      Headers headers =
          Headers.of(
              "Content-Type", contentType,
              "Cache-Control", "public, max-age=300",
              "Vary", "Accept",
              "ETag", tag,
              "Access-Control-Allow-Origin", "*",
              "X-Content-Type-Options", "nosniff");
      return new Page(headers, body, tag);
    }

    private static byte[] sha256(byte[] bytes) {
      try {
        return MessageDigest.getInstance("SHA-256").digest(bytes);
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JVM has SHA-256", e);
      }
    }
  }

  /**
   * Of these routes.
   *
   * @param routes with keys, and meant to be listed
   */
  public Policy(List<PolicyRoute> routes) {
    this.routes = List.copyOf(routes);
  }

  private Page json() {
    Page made = json;
    if (made == null) {
      made = Page.of("application/json", PolicyJson.of(routes));
      json = made;
    }
    return made;
  }

  private Page html() {
    Page made = html;
    if (made == null) {
      made = Page.of("text/html; charset=utf-8", PolicyHtml.of(routes));
      made.headers.add("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
      html = made;
    }
    return made;
  }

  @Override
  public Response answer(Headers request) {
    Page page = Accepted.of(request.all("Accept")).prefersHtml() ? html() : json();
    boolean known =
        request.containsToken("If-None-Match", page.tag)
            || request.containsToken("If-None-Match", "W/" + page.tag)
            || request.containsToken("If-None-Match", "*");
    return known
        ? Response.of(304, page.headers.copy(), Response.NO_BODY)
        : Response.of(200, page.headers.copy(), page.body);
  }
}
