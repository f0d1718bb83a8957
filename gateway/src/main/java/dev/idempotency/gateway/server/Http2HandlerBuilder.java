package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.exchange.Peer;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;

/** Sets the codec's own limits (RFC 9113 §10.5) and makes the handler of a connection. */
final class Http2HandlerBuilder
    extends AbstractHttp2ConnectionHandlerBuilder<Http2Handler, Http2HandlerBuilder> {

  private static final int MOST_QUEUED_CONTROL_FRAMES = 1_000;
  private static final int MOST_EMPTY_DATA_FRAMES = 10;
  private static final int MOST_SMALL_CONTINUATIONS = 8;

  /** Bytes that one stream may send before the next one has its turn. */
  private static final int TURN_BYTES = 16 * 1024;

  private final HttpServer server;
  private final ServerOptions options;
  private final Exchanges exchanges;
  private final Peer peer;

  private Http2HandlerBuilder(
      HttpServer server, ServerOptions options, Exchanges exchanges, Peer peer) {
    this.server = server;
    this.options = options;
    this.exchanges = exchanges;
    this.peer = peer;
  }

  static Http2Handler build(
      HttpServer server, ServerOptions options, Exchanges exchanges, Peer peer) {
    Http2Options http2 = options.http2();
    return new Http2HandlerBuilder(server, options, exchanges, peer)
        .connection(newConnection())
        .initialSettings(
            Http2Settings.defaultSettings()
                .maxConcurrentStreams(http2.streams())
                .initialWindowSize(http2.streamWindow())
                .maxHeaderListSize(options.headerBytes()))
        .validateHeaders(true)
        .validateRequiredPseudoHeaders(true)
        .decoderEnforceMaxConsecutiveEmptyDataFrames(MOST_EMPTY_DATA_FRAMES)
        .decoderEnforceMaxSmallContinuationFrames(MOST_SMALL_CONTINUATIONS)
        .encoderEnforceMaxQueuedControlFrames(MOST_QUEUED_CONTROL_FRAMES)
        // Resets of both sides are counted together, see Http2Allowance.
        .decoderEnforceMaxRstFramesPerWindow(0, 1)
        .encoderEnforceMaxRstFramesPerWindow(0, 1)
        // A close is a close; the end of a connection is announced before.
        .decoupleCloseAndGoAway(true)
        .build();
  }

  /** Streams take turns; what clients say of priorities is not heard (RFC 9113 §5.3.2). */
  private static Http2Connection newConnection() {
    Http2Connection connection = new DefaultHttp2Connection(true, 0);
    UniformStreamByteDistributor turns = new UniformStreamByteDistributor(connection);
    turns.minAllocationChunk(TURN_BYTES);
    connection.remote().flowController(new DefaultHttp2RemoteFlowController(connection, turns));
    return connection;
  }

  @Override
  protected Http2Handler build(
      Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
    Http2Handler handler = new Http2Handler(decoder, encoder, settings, server, options, exchanges);
    decoder.frameListener(new Http2Requests(handler, options, exchanges, peer));
    return handler;
  }
}
