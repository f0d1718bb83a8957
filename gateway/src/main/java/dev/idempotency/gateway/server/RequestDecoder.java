package dev.idempotency.gateway.server;

import dev.idempotency.gateway.transport.FlatHeaders;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/** Reads requests, and refuses a request that has two lengths (RFC 9112 §6.3). */
final class RequestDecoder extends HttpRequestDecoder {

  private static final long NOT_MIDWAY = Long.MIN_VALUE;

  private boolean emitted;
  private long midwaySince = NOT_MIDWAY;

  RequestDecoder(ServerOptions options) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(options.targetBytes())
            .setMaxHeaderSize(options.headerBytes())
            .setMaxChunkSize(64 * 1024)
            .setHeadersFactory(FlatHeaders.FACTORY)
            .setTrailersFactory(FlatHeaders.FACTORY));
  }

  @Override
  protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
    throw new IllegalArgumentException("both Content-Length and Transfer-Encoding");
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
    emitted = false;
    boolean blank = midwaySince == NOT_MIDWAY && isBlank((ByteBuf) msg);
    super.channelRead(ctx, msg);
    if (emitted) {
      midwaySince = actualReadableBytes() > 0 ? System.nanoTime() : NOT_MIDWAY;
    } else if (midwaySince == NOT_MIDWAY && !blank) {
      midwaySince = System.nanoTime();
    }
  }

  /** Empty lines between requests begin none (RFC 9112 §2.2). */
  private static boolean isBlank(ByteBuf bytes) {
    return bytes.forEachByte(b -> b == '\r' || b == '\n') < 0;
  }

  /** A message, or a part of one, came out. */
  void emitted() {
    emitted = true;
  }

  /** Whether bytes of something unfinished are here. */
  boolean isMidway() {
    return midwaySince != NOT_MIDWAY;
  }

  /** When the first of these bytes came, by the monotonic clock. */
  long midwaySince() {
    return midwaySince;
  }
}
