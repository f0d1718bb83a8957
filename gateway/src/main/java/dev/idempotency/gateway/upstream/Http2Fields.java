package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.ResponseHead;
import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder.SensitivityDetector;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The fields of requests and responses in the form that HTTP/2 wants (RFC 9113 §8.2, §8.3). */
final class Http2Fields {

  /** Speak of an HTTP/1.1 connection, and make an HTTP/2 message malformed (RFC 9113 §8.2.2). */
  private static final Set<String> CONNECTION_SPECIFIC =
      Set.of("connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade");

  /** What a request has as pseudo-header fields or gets from the edge itself. */
  private static final Set<String> REPLACED = Set.of("host", "http2-settings", "content-length");

  private static final Set<String> ALIKE_FOR_ALL =
      Set.of(
          ":method",
          ":scheme",
          ":authority",
          "accept",
          "accept-encoding",
          "content-type",
          "te",
          "user-agent",
          "via",
          "x-forwarded-proto");

  /**
   * Fields that stay out of the compression state. Requests of many clients share a connection: one
   * client could otherwise guess another's fields by the size of what it causes (RFC 7541 §7.1).
   */
  static final SensitivityDetector PRIVATE =
      (name, value) -> !ALIKE_FOR_ALL.contains(name.toString());

  private Http2Fields() {}

  /**
   * The fields of a request.
   *
   * @param scheme "http" or "https"
   * @param authority for a request that names no host
   * @param contentLength number of bytes, or -1 where it is not known
   */
  static Http2Headers request(
      RequestHead head, String scheme, String authority, long contentLength) {
    Headers fields = head.headers();
    String host = fields.get("host");
    Http2Headers made =
        new DefaultHttp2Headers(false, fields.size() + 5)
            .method(head.method())
            .scheme(scheme)
            .authority(host == null ? authority : host)
            .path(head.target());
    for (int i = 0; i < fields.size(); i++) {
      String name = fields.name(i).toLowerCase(Locale.ROOT);
      String value = fields.value(i);
      if (isSent(name, value)) {
        made.add(name, value);
      }
    }
    if (contentLength > 0 || (contentLength == 0 && hasContentByMeaning(head.method()))) {
      made.add("content-length", Long.toString(contentLength));
    }
    return made;
  }

  private static boolean isSent(String name, String value) {
    if (name.equals("te")) {
      return value.equalsIgnoreCase("trailers");
    }
    return !CONNECTION_SPECIFIC.contains(name) && !REPLACED.contains(name);
  }

  /** Methods whose requests say so when they have no content (RFC 9110 §8.6). */
  private static boolean hasContentByMeaning(String method) {
    return method.equals("POST") || method.equals("PUT") || method.equals("PATCH");
  }

  /** The head of a response, or null where it is malformed (RFC 9113 §8.1.1). */
  static @Nullable ResponseHead response(Http2Headers received) {
    CharSequence status = received.status();
    if (status == null || !isStatus(status)) {
      return null;
    }
    Headers fields = new Headers();
    for (Map.Entry<CharSequence, CharSequence> field : received) {
      String name = field.getKey().toString();
      if (name.equals(":status")) {
        continue;
      }
      if (!add(name, field.getValue().toString(), fields)) {
        return null;
      }
    }
    return new ResponseHead(Integer.parseInt(status.toString()), fields);
  }

  /** Three digits, from 100 on; 101 does not exist in HTTP/2 (RFC 9113 §8.6). */
  private static boolean isStatus(CharSequence status) {
    if (status.length() != 3 || status.charAt(0) < '1' || status.charAt(0) > '9') {
      return false;
    }
    return isDigit(status.charAt(1))
        && isDigit(status.charAt(2))
        && !status.toString().equals("101");
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  /** Trailer fields, or null where they are malformed. */
  static @Nullable Headers trailers(Http2Headers received) {
    Headers fields = new Headers();
    for (Map.Entry<CharSequence, CharSequence> field : received) {
      if (!add(field.getKey().toString(), field.getValue().toString(), fields)) {
        return null;
      }
    }
    return fields;
  }

  private static boolean add(String name, String value, Headers fields) {
    if (!isName(name) || CONNECTION_SPECIFIC.contains(name) || !isValue(value)) {
      return false;
    }
    fields.add(name, value);
    return true;
  }

  /** A token in lower case; pseudo-header fields are none (RFC 9113 §8.2.1). */
  private static boolean isName(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c >= 'A' && c <= 'Z') {
        return false;
      }
    }
    return !name.isEmpty() && HttpHeaderValidationUtil.validateToken(name) == -1;
  }

  /** No control characters, and no blank at either end (RFC 9113 §8.2.1). */
  private static boolean isValue(String value) {
    if (value.isEmpty()) {
      return true;
    }
    return !isBlank(value.charAt(0))
        && !isBlank(value.charAt(value.length() - 1))
        && HttpHeaderValidationUtil.validateValidHeaderValue(value) == -1;
  }

  private static boolean isBlank(char c) {
    return c == ' ' || c == '\t';
  }

  /** The length that a head names: -1 where it names none, -2 where what it says is no number. */
  static long contentLength(ResponseHead head) {
    String value = head.headers().get("content-length");
    if (value == null) {
      return -1;
    }
    if (value.isEmpty() || value.length() > 18 || !value.chars().allMatch(c -> isDigit((char) c))) {
      return -2;
    }
    return Long.parseLong(value);
  }
}
