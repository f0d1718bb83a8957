package dev.idempotency.gateway.transport;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestEncoder;

/** Writes a whole small request as one buffer: one system call with one address. */
public final class OnePieceRequestEncoder extends HttpRequestEncoder {

  private int content;

  @Override
  protected void sanitizeHeadersBeforeEncode(HttpRequest message, boolean alwaysEmpty) {
    super.sanitizeHeadersBeforeEncode(message, alwaysEmpty);
    content = SmallContent.bytes(message);
  }

  @Override
  protected void encodeHeaders(HttpHeaders headers, ByteBuf buffer) {
    super.encodeHeaders(headers, buffer);
    SmallContent.makeRoom(buffer, content);
  }
}
