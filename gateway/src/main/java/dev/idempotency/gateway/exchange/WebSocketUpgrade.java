package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.ResponseHead;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The handshake of RFC 6455 §4, as far as an intermediary must understand it. */
final class WebSocketUpgrade {

  private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final int KEY_BYTES = 16;

  private WebSocketUpgrade() {}

  /** Whether a request asks, in the whole form of the handshake, for a WebSocket. */
  static boolean isAskedFor(RequestHead head, long contentLength, Peer peer) {
    Headers headers = head.headers();
    return head.method().equals("GET")
        && contentLength == 0
        && peer.protocol().equals("1.1")
        && isWebSocket(headers)
        && headers.all("sec-websocket-version").equals(List.of("13"))
        && keyOf(headers) != null;
  }

  /** Whether a response with status 101 grants what the request asked for. */
  static boolean isGranted(RequestHead asked, ResponseHead response) {
    Headers headers = response.headers();
    String key = keyOf(asked.headers());
    return key != null
        && isWebSocket(headers)
        && headers.all("sec-websocket-accept").equals(List.of(accept(key)));
  }

  private static boolean isWebSocket(Headers headers) {
    List<String> protocols = headers.all("upgrade");
    return protocols.size() == 1
        && protocols.get(0).equalsIgnoreCase("websocket")
        && headers.containsToken("connection", "upgrade");
  }

  private static @Nullable String keyOf(Headers headers) {
    List<String> keys = headers.all("sec-websocket-key");
    try {
      return keys.size() == 1 && Base64.getDecoder().decode(keys.get(0)).length == KEY_BYTES
          ? keys.get(0)
          : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static String accept(String key) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-1")
              .digest((key + GUID).getBytes(StandardCharsets.ISO_8859_1));
      return Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-1", e);
    }
  }
}
