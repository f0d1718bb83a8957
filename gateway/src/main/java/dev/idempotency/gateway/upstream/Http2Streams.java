package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.ResponseReceiver.Failure;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2LocalFlowController;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2ConnectionPrefaceAndSettingsFrameWrittenEvent;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The streams of one connection to an upstream, as the codec has them. */
final class Http2Streams extends Http2ConnectionHandler {

  /** What one response may send ahead of a client that does not read it. */
  static final int STREAM_WINDOW = 256 * 1024;

  /** Filled up whoever reads, so that a paused response stops no other. */
  private static final int CONNECTION_WINDOW = 1024 * 1024;

  private static final int MOST_HEAD_BYTES = 64 * 1024;

  private final Http2Link link;
  private final Http2Connection.PropertyKey exchangeKey;
  private final List<Http2Exchange> heard = new ArrayList<>();
  private @Nullable ChannelHandlerContext context;
  private boolean reading;

  private Http2Streams(
      Http2Link link,
      Http2ConnectionDecoder decoder,
      Http2ConnectionEncoder encoder,
      Http2Settings settings) {
    super(decoder, encoder, settings);
    this.link = link;
    this.exchangeKey = encoder.connection().newKey();
    Http2Events events = new Http2Events(link, this);
    decoder.frameListener(events);
    encoder.connection().addListener(events);
    encoder.flowController().listener(events);
  }

  static Http2Streams of(Http2Link link) {
    return new Builder(link).build();
  }

  /** Settings and limits: what a server may do to us (RFC 9113 §10.5). */
  private static final class Builder
      extends AbstractHttp2ConnectionHandlerBuilder<Http2Streams, Builder> {

    private final Http2Link link;

    Builder(Http2Link link) {
      this.link = link;
      connection(newConnection());
      initialSettings(
          new Http2Settings()
              .pushEnabled(false)
              .initialWindowSize(STREAM_WINDOW)
              .maxHeaderListSize(MOST_HEAD_BYTES));
      headerSensitivityDetector(Http2Fields.PRIVATE);
      encoderEnforceMaxQueuedControlFrames(1_000);
      decoderEnforceMaxConsecutiveEmptyDataFrames(10);
      // Whoever closes has waited for what it wanted to wait for.
      gracefulShutdownTimeoutMillis(0);
    }

    private static Http2Connection newConnection() {
      DefaultHttp2Connection connection = new DefaultHttp2Connection(false, 0);
      connection
          .local()
          .flowController(
              new DefaultHttp2LocalFlowController(
                  connection, DefaultHttp2LocalFlowController.DEFAULT_WINDOW_UPDATE_RATIO, true));
      connection
          .remote()
          .flowController(
              new DefaultHttp2RemoteFlowController(
                  connection, new UniformStreamByteDistributor(connection)));
      return connection;
    }

    @Override
    protected Http2Streams build() {
      return super.build();
    }

    @Override
    protected Http2Streams build(
        Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
      return new Http2Streams(link, decoder, encoder, settings);
    }
  }

  // ---- for exchanges

  /** How many streams the server takes at a time. */
  int mostStreams() {
    return connection().local().maxActiveStreams();
  }

  /** Whether a stream can begin. */
  boolean canOpen() {
    return context != null
        && context.channel().isActive()
        && !connection().goAwayReceived()
        && !connection().goAwaySent()
        && connection().local().canOpenStream();
  }

  /**
   * Begins a stream.
   *
   * @param last whether the request ends with its head
   * @return null where none can begin; then nothing was written
   */
  @Nullable Http2Stream open(Http2Exchange exchange, Http2Headers head, boolean last) {
    ChannelHandlerContext ctx = context;
    if (ctx == null || !canOpen()) {
      return null;
    }
    Http2Connection.Endpoint<?> local = connection().local();
    Http2Stream stream;
    try {
      stream = local.createStream(local.incrementAndGetNextStreamId(), false);
    } catch (Http2Exception e) {
      // The numbers of streams are used up (RFC 9113 §5.1.1).
      link.retire();
      return null;
    }
    stream.setProperty(exchangeKey, exchange);
    ChannelFuture unused =
        encoder().writeHeaders(ctx, stream.id(), head, 0, last, ctx.newPromise());
    return stream;
  }

  /** Takes the data over; they leave as the server's windows allow. */
  void write(Http2Stream stream, ByteBuf data, boolean last) {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      data.release();
      return;
    }
    ChannelFuture unused = encoder().writeData(ctx, stream.id(), data, 0, last, ctx.newPromise());
  }

  boolean isWritable(Http2Stream stream) {
    return encoder().flowController().isWritable(stream);
  }

  /** The server may send that many bytes more. */
  void consumed(Http2Stream stream, int bytes) {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      return;
    }
    try {
      if (decoder().flowController().consumeBytes(stream, bytes)) {
        flush();
      }
    } catch (Http2Exception e) {
      onError(ctx, true, e);
    }
  }

  void reset(Http2Stream stream, Http2Error error) {
    ChannelHandlerContext ctx = context;
    if (ctx != null && stream.state() != Http2Stream.State.CLOSED) {
      ChannelFuture unused =
          encoder().writeRstStream(ctx, stream.id(), error.code(), ctx.newPromise());
    }
  }

  /** Sends what was written; a burst of reading ends with that anyway. */
  void flush() {
    if (context != null && !reading) {
      flush(context);
    }
  }

  /** Whether what came is being read right now. */
  boolean isReading() {
    return reading;
  }

  /** Is to be told when the burst of reading ends. */
  void heard(Http2Exchange exchange) {
    heard.add(exchange);
  }

  /** The exchange of a stream, or null where it has none. */
  @Nullable Http2Exchange exchangeOf(@Nullable Http2Stream stream) {
    return stream == null ? null : stream.getProperty(exchangeKey);
  }

  // ---- events of the channel

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
    context = ctx;
    super.handlerAdded(ctx);
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
    if (event instanceof Http2ConnectionPrefaceAndSettingsFrameWrittenEvent) {
      decoder()
          .flowController()
          .incrementWindowSize(
              connection().connectionStream(),
              CONNECTION_WINDOW - Http2CodecUtil.DEFAULT_WINDOW_SIZE);
    }
    super.userEventTriggered(ctx, event);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    reading = true;
    link.heard();
    super.channelRead(ctx, message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
    List<Http2Exchange> burst = List.copyOf(heard);
    heard.clear();
    burst.forEach(Http2Exchange::flushReceiver);
    reading = false;
    super.channelReadComplete(ctx);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    super.channelInactive(ctx);
    link.closed();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
    if (Http2CodecUtil.getEmbeddedHttp2Exception(cause) == null) {
      // The connection broke; whatever else it may be, nothing on it can be trusted any more.
      Transport.close(ctx.channel());
    } else {
      super.exceptionCaught(ctx, cause);
    }
  }

  @Override
  public void onError(ChannelHandlerContext ctx, boolean outbound, Throwable cause) {
    if (outbound && cause instanceof IOException) {
      // A failed write says nothing of what waits in the receive buffer, such as a response or the
      // word that a request was not processed: it is read until the connection's end is seen there.
      link.retire();
    } else {
      super.onError(ctx, outbound, cause);
    }
  }

  @Override
  protected void onStreamError(
      ChannelHandlerContext ctx,
      boolean outbound,
      Throwable cause,
      Http2Exception.StreamException error) {
    Http2Stream stream = connection().stream(error.streamId());
    Http2Exchange exchange = exchangeOf(stream);
    if (stream != null && exchange != null) {
      exchange.broken(outbound, stream.isHeadersSent());
    }
    super.onStreamError(ctx, outbound, cause, error);
  }

  @Override
  protected void onConnectionError(
      ChannelHandlerContext ctx,
      boolean outbound,
      Throwable cause,
      @Nullable Http2Exception error) {
    link.lost(outbound ? Failure.CLOSED : Failure.MALFORMED);
    super.onConnectionError(ctx, outbound, cause, error);
  }
}
