package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Exchange;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.exchange.Result;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A client's HTTP/2 connection: each of its streams is an exchange of its own. The codec keeps the
 * states of streams and windows; this keeps what belongs to the connection as a whole, and ends it.
 */
final class Http2Handler extends Http2ConnectionHandler implements ClientConnection {

  /** So many bodies may wait in whole windows before one of them stops the others. */
  private static final int MOST_WINDOW_BYTES = 1 << 20;

  private static final int FEWEST_WINDOWS = 4;

  /** Whole responses that a client does not take: beyond, it gets no more of them made. */
  private static final long MOST_HELD_BYTES = 16L << 20;

  /** Streams that a client opens before it has read how many it may are refused one by one. */
  private static final int MORE_STREAMS = 1_000;

  private final HttpServer server;
  private final ServerOptions options;
  private final Exchanges exchanges;
  private final Http2Connection.PropertyKey key;
  private final Http2Allowance allowance;
  private final Http2FrameWatch watch;
  private final Http2Deadlines deadlines;
  private final Http2Farewell farewell = new Http2Farewell(this);
  private final List<Exchange> leftBehind = new ArrayList<>();
  private final List<Http2ClientStream> delivered = new ArrayList<>();
  private final Set<Integer> resetEarly = new LinkedHashSet<>();
  private @Nullable ChannelHandlerContext context;
  private long heldBytes;
  private boolean reading;
  private boolean flushing;

  Http2Handler(
      Http2ConnectionDecoder decoder,
      Http2ConnectionEncoder encoder,
      Http2Settings settings,
      HttpServer server,
      ServerOptions options,
      Exchanges exchanges) {
    super(decoder, encoder, settings, true);
    this.server = server;
    this.options = options;
    this.exchanges = exchanges;
    this.key = connection().newKey();
    long now = System.nanoTime();
    this.allowance = new Http2Allowance(options.http2().resets(), now);
    this.watch = new Http2FrameWatch(allowance, now);
    this.deadlines = new Http2Deadlines(this, options, watch, now);
    letMoreStreamsIn();
    connection().addListener(new Streams());
    connection().remote().flowController().listener(this::writabilityChanged);
  }

  /** What happens to the codec's streams. */
  private final class Streams extends Http2ConnectionAdapter {
    @Override
    public void onStreamClosed(Http2Stream wire) {
      Http2ClientStream stream = streamOf(wire);
      deadlines.busy();
      if (stream != null) {
        stream.closed();
      }
      if (farewell.isTold()) {
        ctx().executor().execute(() -> farewell.closeIfAnswered(ctx()));
      }
    }
  }

  private void writabilityChanged(Http2Stream wire) {
    Http2ClientStream stream = streamOf(wire);
    if (stream != null && isWritable(wire)) {
      stream.exchange().clientWritable();
    }
  }

  /** Else one that is refused would be no stream, and its data would end the connection. */
  private void letMoreStreamsIn() {
    connection().remote().maxActiveStreams(options.http2().streams() + MORE_STREAMS);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
    context = ctx;
    super.handlerAdded(ctx);
    int window = options.http2().streamWindow();
    long windows = Math.min((long) window * options.http2().streams(), MOST_WINDOW_BYTES);
    long wanted = Math.max(windows, (long) window * FEWEST_WINDOWS);
    Http2Stream whole = connection().connectionStream();
    int more =
        (int) Math.min(wanted, Integer.MAX_VALUE) - decoder().flowController().windowSize(whole);
    decoder().flowController().incrementWindowSize(whole, Math.max(0, more));
    ctx.flush();
  }

  private ChannelHandlerContext ctx() {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      throw new IllegalStateException("not in a pipeline yet");
    }
    return ctx;
  }

  // ---- reading

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    if (farewell.isClosing() || !(message instanceof ByteBuf bytes)) {
      ReferenceCountUtil.release(message);
      return;
    }
    long now = System.nanoTime();
    watch.read(bytes, now);
    if (allowance.isOverdrawn(now)) {
      bytes.release();
      end(Http2Error.ENHANCE_YOUR_CALM, "too many frames that carry nothing");
      return;
    }
    reading = true;
    super.channelRead(ctx, message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
    reading = false;
    flushExchanges();
    super.channelReadComplete(ctx);
  }

  private void flushExchanges() {
    for (int i = 0; i < delivered.size(); i++) {
      delivered.get(i).exchange().flush();
    }
    delivered.clear();
  }

  /** Something was delivered to the stream's exchange; it passes it on when the burst ends. */
  void delivered(Http2ClientStream stream) {
    if (reading) {
      delivered.add(stream);
    } else {
      stream.exchange().flush();
    }
  }

  // ---- streams

  @Nullable Http2ClientStream streamOf(@Nullable Http2Stream wire) {
    return wire == null ? null : wire.getProperty(key);
  }

  void opened(Http2Stream wire, Http2ClientStream stream) {
    wire.setProperty(key, stream);
    deadlines.busy();
  }

  /**
   * Whether one more exchange may be opened beside those that are under way. A keyed one that a
   * client has reset goes on and keeps its place: else resets would buy unlimited work.
   */
  boolean hasPlace() {
    int most = options.http2().streams();
    int active = connection().numActiveStreams();
    if (active + leftBehind.size() > most) {
      leftBehind.removeIf(Exchange::isOver);
    }
    return active + leftBehind.size() <= most && heldBytes <= MOST_HELD_BYTES;
  }

  /** The client left this exchange, which may go on. */
  void left(Exchange exchange) {
    if (!exchange.isOver()) {
      leftBehind.add(exchange);
    }
  }

  /** So many bytes more, or less, of whole responses wait for the client. */
  void holds(int bytes) {
    heldBytes += bytes;
  }

  ServerOptions options() {
    return options;
  }

  Http2Allowance allowance() {
    return allowance;
  }

  Http2Deadlines deadlines() {
    return deadlines;
  }

  boolean isWritable(Http2Stream wire) {
    return encoder().flowController().isWritable(wire);
  }

  void giveWindowBack(Http2Stream wire, int bytes) {
    try {
      if (decoder().flowController().consumeBytes(wire, bytes)) {
        flushSoon();
      }
    } catch (Http2Exception e) {
      onError(ctx(), false, e);
    }
  }

  // ---- writing

  void writeHeaders(Http2Stream wire, Http2Headers block, boolean end) {
    if (wire.state() != Http2Stream.State.CLOSED && !farewell.isClosing()) {
      ChannelFuture unused =
          encoder().writeHeaders(ctx(), wire.id(), block, 0, end, ctx().newPromise());
    }
  }

  /** Takes the buffer over. */
  void writeData(Http2Stream wire, ByteBuf content, boolean end) {
    if (wire.state() == Http2Stream.State.CLOSED || farewell.isClosing()) {
      content.release();
      return;
    }
    allowance.earnBytes(content.readableBytes());
    ChannelFuture unused =
        encoder().writeData(ctx(), wire.id(), content, 0, end, ctx().newPromise());
  }

  /** Flushes once for all streams that were written to in this turn of the event loop. */
  void flushSoon() {
    if (!reading && !flushing) {
      flushing = true;
      ctx().executor().execute(this::flushNow);
    }
  }

  private void flushNow() {
    flushing = false;
    flush(ctx());
  }

  void reset(Http2Stream wire, Http2Error error) {
    ChannelFuture unused = resetStream(ctx(), wire.id(), error.code(), ctx().newPromise());
    flushSoon();
  }

  /** Every reset of ours comes through here, the codec's own ones too. */
  @Override
  public ChannelFuture resetStream(
      ChannelHandlerContext ctx, int streamId, long error, ChannelPromise promise) {
    Http2ClientStream stream = streamOf(connection().stream(streamId));
    if (stream == null || !stream.body().isComplete()) {
      rememberEarly(streamId);
    }
    if (stream != null) {
      // At once: a write that came between would follow the reset.
      stream.gone();
    }
    return super.resetStream(ctx, streamId, error, promise);
  }

  /** What the client sent before it learned of the reset is no fault (RFC 9113 §5.1). */
  private void rememberEarly(int streamId) {
    resetEarly.add(streamId);
    if (resetEarly.size() > MORE_STREAMS) {
      resetEarly.remove(resetEarly.iterator().next());
    }
  }

  /** A response that is complete before its request asks for no more of it (RFC 9113 §8.1). */
  @Override
  public void closeStreamLocal(Http2Stream wire, ChannelFuture future) {
    super.closeStreamLocal(wire, future);
    Http2ClientStream stream = streamOf(wire);
    if (stream != null
        && wire.state() == Http2Stream.State.HALF_CLOSED_LOCAL
        && !stream.body().isComplete()) {
      reset(wire, Http2Error.NO_ERROR);
    }
  }

  // ---- errors and ends

  @Override
  protected void onStreamError(
      ChannelHandlerContext ctx,
      boolean outbound,
      Throwable cause,
      Http2Exception.StreamException error) {
    int id = error.streamId();
    Http2Stream wire = connection().stream(id);
    if (outbound && (wire == null || wire.state() == Http2Stream.State.CLOSED)) {
      // What was still to be written when the client reset the stream.
      return;
    }
    if (wire == null && resetEarly.contains(id)) {
      return;
    }
    boolean early = error.error() == Http2Error.REFUSED_STREAM && !deadlines.isAcknowledged();
    if (!outbound && !early && !allowance.takeReset(System.nanoTime())) {
      end(Http2Error.ENHANCE_YOUR_CALM, "too many streams had to be reset");
      return;
    }
    if (wire == null && !connection().streamMayHaveExisted(id)) {
      wire = created(id);
    }
    boolean refused = error.error() == Http2Error.REFUSED_STREAM;
    if (wire != null && streamOf(wire) == null && !outbound && !refused) {
      if (error instanceof Http2Exception.HeaderListSizeException) {
        refuse(wire, Refusals.tooManyFields());
        return;
      }
      exchanges.answered("", "", Result.BAD_REQUEST, 0);
    }
    super.onStreamError(ctx, outbound, cause, error);
  }

  /** What the request was can't be read any more. */
  private void refuse(Http2Stream wire, Response answer) {
    exchanges.answered("", "", Result.BAD_REQUEST, answer.status());
    Http2ClientStream stream = new Http2ClientStream(this, wire, false, false);
    opened(wire, stream);
    stream.respond(answer);
  }

  /** A malformed request takes its stream all the same: what follows on it is no new fault. */
  private @Nullable Http2Stream created(int id) {
    try {
      return connection().remote().createStream(id, false);
    } catch (Http2Exception e) {
      return null;
    }
  }

  @Override
  protected void onConnectionError(
      ChannelHandlerContext ctx,
      boolean outbound,
      Throwable cause,
      @Nullable Http2Exception error) {
    if (error != null) {
      String why = error.error() == Http2Error.ENHANCE_YOUR_CALM ? "too much of one kind" : "";
      end(error.error(), why);
    } else if (cause instanceof IOException) {
      close();
    } else {
      server.bug(cause);
      end(Http2Error.INTERNAL_ERROR, "");
    }
  }

  void end(Http2Error error, String why) {
    farewell.end(ctx(), error, why);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
    if (cause instanceof IOException || cause.getCause() instanceof IOException) {
      close();
    } else {
      onError(ctx, false, cause);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
    if (event instanceof ChannelInputShutdownEvent) {
      // Without the client's frames nothing can go on here, not even a response (RFC 9113 §5.2).
      close();
    }
    super.userEventTriggered(ctx, event);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    server.closed(this);
    super.channelInactive(ctx);
  }

  void settingsAcknowledged() {
    deadlines.settingsAcknowledged();
    letMoreStreamsIn();
  }

  void pingAcknowledged(long content) {
    farewell.pingAcknowledged(ctx(), content);
  }

  @Override
  public void beat(long now) {
    if (deadlines.isStuck(ctx().channel(), now)) {
      close();
      return;
    }
    farewell.beat(ctx(), now);
    if (!farewell.isClosing()) {
      if (server.isDraining()) {
        drain();
      }
      deadlines.look(now);
    }
  }

  @Override
  public void drain() {
    farewell.warn(ctx());
  }

  @Override
  public void close() {
    Transport.close(ctx().channel());
  }
}
