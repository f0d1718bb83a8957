package dev.idempotency.gateway.transport;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;

/** Writes a whole small response as one buffer: one system call with one address. */
public final class OnePieceResponseEncoder extends HttpResponseEncoder {

  private int content;

  @Override
  protected void sanitizeHeadersBeforeEncode(HttpResponse message, boolean alwaysEmpty) {
    super.sanitizeHeadersBeforeEncode(message, alwaysEmpty);
    content = SmallContent.bytes(message);
  }

  @Override
  protected void encodeHeaders(HttpHeaders headers, ByteBuf buffer) {
    super.encodeHeaders(headers, buffer);
    SmallContent.makeRoom(buffer, content);
  }
}
