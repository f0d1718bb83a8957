package dev.idempotency.gateway.demo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Makes the responses of the demo upstream. */
final class Answers {

  /** Shared by all answers, so that a large one costs no memory of its own. */
  private static final ByteBuf PADDING = Unpooled.unreleasableBuffer(padding());

  private Answers() {}

  private static ByteBuf padding() {
    byte[] bytes = new byte[64 * 1024];
    Arrays.fill(bytes, (byte) 'x');
    return Unpooled.wrappedBuffer(bytes).asReadOnly();
  }

  static FullHttpResponse json(int status, String text) {
    return json(status, ascii(text));
  }

  private static FullHttpResponse json(int status, ByteBuf body) {
    HttpResponseStatus line = HttpResponseStatus.valueOf(status);
    boolean empty = status == 204 || status == 304;
    ByteBuf content = empty ? Unpooled.EMPTY_BUFFER : body;
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, line, content);
    if (!empty) {
      response
          .headers()
          .set(HttpHeaderNames.CONTENT_TYPE, "application/json")
          .setInt(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
    }
    return response;
  }

  static FullHttpResponse error(int status, String message) {
    return json(status, "{\"error\":" + Json.quote(message) + "}\n");
  }

  /** What a created order is told, with as much padding as was asked for. */
  static FullHttpResponse created(Order order, Behaviour behaviour) {
    ByteBuf body =
        behaviour.padding() == 0
            ? ascii(order.toJson() + '\n')
            : padded(order.toOpenJson() + ",\"padding\":\"", behaviour.padding(), "\"}\n");
    FullHttpResponse response = json(behaviour.status(), body);
    response.headers().set(HttpHeaderNames.LOCATION, "/orders/" + order.id());
    return response;
  }

  /** What an order was told when it was placed. */
  static FullHttpResponse stored(int status, OrderTable.Answer answer) {
    FullHttpResponse response = json(status, answer.body());
    response.headers().set(HttpHeaderNames.LOCATION, answer.location());
    return response;
  }

  private static ByteBuf padded(String before, int bytes, String after) {
    ByteBuf[] parts = new ByteBuf[2 + (bytes + PADDING.capacity() - 1) / PADDING.capacity()];
    parts[0] = ascii(before);
    int left = bytes;
    for (int i = 1; i < parts.length - 1; i++) {
      int length = Math.min(left, PADDING.capacity());
      parts[i] = PADDING.slice(0, length);
      left -= length;
    }
    parts[parts.length - 1] = ascii(after);
    return Unpooled.wrappedBuffer(parts.length, parts);
  }

  private static ByteBuf ascii(String text) {
    return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.US_ASCII));
  }
}
