package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HttpDate;
import dev.idempotency.gateway.http.ResponseHead;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Request heads out of field blocks, and field blocks out of response heads (RFC 9113 §8.3). That a
 * block is well-formed as such (order, case and number of its pseudo-fields, no field of a
 * connection) has been checked by the codec.
 */
final class Http2Heads {

  /** What came of reading. */
  sealed interface Reading {
    /** A request whose host is its authority, as HTTP/1.1 has it. */
    record Good(String method, String target, Headers headers) implements Reading {}

    /** Not a request that can be judged; the detail is for the client. */
    record Bad(String detail) implements Reading {}
  }

  private Http2Heads() {}

  static Reading read(Http2Headers block) {
    String method = text(block.method());
    String path = text(block.path());
    if (method.equals("CONNECT")) {
      // It has no path; what is refused is the method.
      return new Reading.Good(method, "/", fields(block, block.authority()));
    }
    String scheme = text(block.scheme());
    if (!scheme.equalsIgnoreCase("http") && !scheme.equalsIgnoreCase("https")) {
      return new Reading.Bad("The field :scheme is neither http nor https.");
    }
    if (!path.startsWith("/") && !(path.equals("*") && method.equals("OPTIONS"))) {
      return new Reading.Bad("The field :path does not begin with a slash.");
    }
    if (block.contains(":protocol")) {
      return new Reading.Bad("The field :protocol is not one of a request.");
    }
    Headers headers = fields(block, block.authority());
    String strange = firstStrange(headers);
    if (strange != null) {
      return new Reading.Bad("The field " + strange + " begins or ends with a blank.");
    }
    if (headers.contains("content_length") || headers.contains("transfer_encoding")) {
      return new Reading.Bad("A header name of framing is spelled with an underscore.");
    }
    CharSequence authority = block.authority();
    if (headers.count("host") > 1) {
      return new Reading.Bad("The header Host is sent " + headers.count("host") + " times.");
    }
    for (String host : headers.all("host")) {
      if (authority != null && !host.equalsIgnoreCase(authority.toString())) {
        return new Reading.Bad("The fields :authority and host differ.");
      }
    }
    if (authority != null) {
      headers.set("host", authority.toString());
    }
    return new Reading.Good(method, path, headers);
  }

  private static String text(@Nullable CharSequence value) {
    return value == null ? "" : value.toString();
  }

  /** The fields as HTTP/1.1 has them, with the pieces of a cookie in one line (RFC 9113 §8.2.3). */
  private static Headers fields(Http2Headers block, @Nullable CharSequence authority) {
    Headers headers = new Headers();
    if (authority != null && !block.contains("host")) {
      headers.add("host", authority.toString());
    }
    StringBuilder cookies = null;
    for (Map.Entry<CharSequence, CharSequence> field : block) {
      String name = field.getKey().toString();
      if (name.startsWith(":")) {
        continue;
      }
      String value = field.getValue().toString();
      if (!name.equals("cookie")) {
        headers.add(name, value);
      } else if (cookies == null) {
        cookies = new StringBuilder(value);
      } else {
        cookies.append("; ").append(value);
      }
    }
    return cookies == null ? headers : headers.add("cookie", cookies.toString());
  }

  /** The name of a field that a hop with HTTP/1.1 would change (RFC 9113 §8.2.1), or null. */
  private static @Nullable String firstStrange(Headers headers) {
    for (int i = 0; i < headers.size(); i++) {
      String value = headers.value(i);
      if (!value.isEmpty()
          && (isBlank(value.charAt(0)) || isBlank(value.charAt(value.length() - 1)))) {
        return headers.name(i);
      }
    }
    return null;
  }

  private static boolean isBlank(char c) {
    return c == ' ' || c == '\t';
  }

  /**
   * The block of a final response.
   *
   * @param contentLength bytes, or -1 where they are not known
   */
  static Http2Headers response(ResponseHead head, long contentLength) {
    Http2Headers block = informational(head);
    int status = head.status();
    // That of a 304 would be the representation's (RFC 9110 §8.6), and nobody named one.
    boolean named = contentLength > 0 || (contentLength == 0 && status != 304);
    if (named && status != 204) {
      block.add("content-length", Long.toString(contentLength));
    }
    if (!block.contains("date")) {
      block.add("date", HttpDate.now());
    }
    return block;
  }

  /** The block of an interim response. */
  static Http2Headers informational(ResponseHead head) {
    Http2Headers block = new DefaultHttp2Headers(false, 16);
    block.status(Integer.toString(head.status()));
    add(head.headers(), block);
    return block;
  }

  static Http2Headers trailers(Headers trailers) {
    Http2Headers block = new DefaultHttp2Headers(false, 4);
    add(trailers, block);
    return block;
  }

  private static void add(Headers headers, Http2Headers block) {
    for (int i = 0; i < headers.size(); i++) {
      String name = headers.name(i).toLowerCase(Locale.ROOT);
      if (!isOfConnection(name)) {
        block.add(name, headers.value(i));
      }
    }
  }

  /** Fields that make a response malformed (RFC 9113 §8.2.2). */
  private static boolean isOfConnection(String name) {
    return switch (name) {
      case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade" -> true;
      default -> false;
    };
  }
}
