package dev.idempotency.gateway.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;

/** Brings what happens on a connection to the exchange, or to the link, that it concerns. */
final class Http2Events extends Http2EventAdapter implements Http2RemoteFlowController.Listener {

  private final Http2Link link;
  private final Http2Streams streams;

  Http2Events(Http2Link link, Http2Streams streams) {
    this.link = link;
    this.streams = streams;
  }

  private Http2Connection connection() {
    return streams.connection();
  }

  private interface Act {
    void on(Http2Exchange exchange);
  }

  private void tell(int streamId, Act act) {
    tell(connection().stream(streamId), act);
  }

  private void tell(Http2Stream stream, Act act) {
    Http2Exchange exchange = streams.exchangeOf(stream);
    if (exchange != null) {
      act.on(exchange);
    }
  }

  @Override
  public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) {
    link.settled();
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext ctx,
      int streamId,
      Http2Headers headers,
      int streamDependency,
      short weight,
      boolean exclusive,
      int padding,
      boolean endOfStream)
      throws Http2Exception {
    if (streams.exchangeOf(connection().stream(streamId)) == null) {
      throw Http2Exception.connectionError(
          Http2Error.PROTOCOL_ERROR, "a stream that the server began (RFC 9113 §5.1.1)");
    }
    tell(streamId, exchange -> exchange.headers(headers, endOfStream));
  }

  @Override
  public int onDataRead(
      ChannelHandlerContext ctx, int streamId, ByteBuf data, int padding, boolean endOfStream) {
    Http2Exchange exchange = streams.exchangeOf(connection().stream(streamId));
    return exchange == null
        ? data.readableBytes() + padding
        : exchange.data(data, padding, endOfStream);
  }

  @Override
  public void onRstStreamRead(ChannelHandlerContext ctx, int streamId, long errorCode) {
    tell(streamId, exchange -> exchange.resetByServer(errorCode));
  }

  @Override
  public void onWindowUpdateRead(ChannelHandlerContext ctx, int streamId, int increment) {
    tell(streamId, Http2Exchange::windowGrew);
  }

  @Override
  public void onPushPromiseRead(
      ChannelHandlerContext ctx,
      int streamId,
      int promisedStreamId,
      Http2Headers headers,
      int padding)
      throws Http2Exception {
    throw Http2Exception.connectionError(
        Http2Error.PROTOCOL_ERROR, "a push, which was not allowed (RFC 9113 §8.4)");
  }

  @Override
  public void onGoAwayReceived(int lastStreamId, long errorCode, ByteBuf debug) {
    // The streams above the last one are closed behind this.
    try {
      connection()
          .forEachActiveStream(
              stream -> {
                if (stream.id() > lastStreamId) {
                  tell(stream, Http2Exchange::abandonedByServer);
                }
                return true;
              });
    } catch (Http2Exception e) {
      throw new IllegalStateException("telling exchanges throws nothing", e);
    }
    link.retire();
  }

  @Override
  public void onStreamClosed(Http2Stream stream) {
    tell(stream, Http2Exchange::closed);
  }

  @Override
  public void writabilityChanged(Http2Stream stream) {
    tell(stream, Http2Exchange::writabilityChanged);
  }
}
