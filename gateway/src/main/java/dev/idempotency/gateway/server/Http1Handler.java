package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Exchange;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.exchange.Peer;
import dev.idempotency.gateway.exchange.Problems;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.Tunnel;
import dev.idempotency.gateway.transport.FlatHeaders;
import dev.idempotency.gateway.transport.NettyChunk;
import dev.idempotency.gateway.transport.TlsChannels;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A client's HTTP/1.1 connection: one exchange at a time, in the order of the requests. What was
 * read ahead waits in a queue, and nothing more is read while something waits there.
 */
final class Http1Handler extends ChannelInboundHandlerAdapter implements ClientConnection {

  /** After an answer to a request that is not whole, so much more is read and thrown away. */
  private static final long MOST_LINGERING_BYTES = 64L << 20;

  private static final long LINGERING_NANOS = 10_000_000_000L;
  private static final long LINGERING_SILENCE_NANOS = 2_000_000_000L;

  private final HttpServer server;
  private final ServerOptions options;
  private final RequestDecoder decoder;
  private final Exchanges exchanges;
  private final ArrayDeque<Object> queue = new ArrayDeque<>();
  private final Peers peers;
  private final Outbound outbound = new Outbound();
  private @Nullable ChannelHandlerContext context;
  private @Nullable Http1Stream current;
  private boolean reading;
  private boolean pumping;
  private boolean closing;
  private boolean inputShut;
  private boolean lingering;
  private long lingeringBytes;
  private long lingeringSince;
  private long since = System.nanoTime();

  Http1Handler(
      HttpServer server,
      ServerOptions options,
      RequestDecoder decoder,
      Exchanges exchanges,
      Peers peers) {
    this.server = server;
    this.options = options;
    this.decoder = decoder;
    this.exchanges = exchanges;
    this.peers = peers;
  }

  /** The client's address in the forms that exchanges want. */
  record Peers(Peer http11, Peer http10) {}

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
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
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    decoder.emitted();
    reading = true;
    if (lingering) {
      linger(message);
      return;
    }
    since = System.nanoTime();
    queue.add(message);
    pump();
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    reading = false;
    if (current != null) {
      current.exchange.flush();
    }
  }

  boolean hasQueued() {
    return !queue.isEmpty();
  }

  /** Delivers what is queued for as long as somebody wants it. */
  void pump() {
    if (pumping) {
      return;
    }
    pumping = true;
    boolean delivered = false;
    try {
      while (!queue.isEmpty() && deliver(queue.element())) {
        delivered = true;
      }
    } finally {
      pumping = false;
    }
    if (delivered && !reading && current != null) {
      // What was held back goes on now; no end of a burst of reading follows that would flush it.
      current.exchange.flush();
    }
    if (inputShut && queue.isEmpty()) {
      inputEnded();
    }
    boolean wanted = queue.isEmpty() && !isBodyHeldBack();
    // What was read to its end is not read again.
    if (!inputShut && ctx().channel().config().isAutoRead() != wanted) {
      ctx().channel().config().setAutoRead(wanted);
    }
  }

  private boolean isBodyHeldBack() {
    Http1Stream stream = current;
    return stream != null
        && !stream.requestComplete
        && !stream.isOver()
        && (stream.bodyPaused || !stream.bodyWanted);
  }

  /** False where the message must wait. */
  private boolean deliver(Object message) {
    Http1Stream stream = current;
    if (message instanceof HttpRequest request) {
      // A client that sends and does not read gets no further answers made, nor memory for them.
      if (stream != null || !ctx().channel().isWritable()) {
        return false;
      }
      queue.remove();
      open(request);
      return true;
    }
    HttpContent content = (HttpContent) message;
    if (stream == null) {
      queue.remove();
      content.release();
      return true;
    }
    if (!stream.isOver() && (!stream.bodyWanted || stream.bodyPaused)) {
      // The end of a request without a body needs no asking.
      if (content.content().isReadable() || !(content instanceof LastHttpContent)) {
        return false;
      }
    }
    queue.remove();
    content(stream, content);
    return true;
  }

  private void open(HttpRequest request) {
    boolean http10 = request.protocolVersion().equals(HttpVersion.HTTP_1_0);
    String method = request.method().name();
    Headers headers = FlatHeaders.of(request.headers());
    Response refusal = Refusals.of(request, headers, options);
    if (refusal != null) {
      refuse(http10, method.equals("HEAD"), refusal);
      return;
    }
    RequestTarget.Reading reading = RequestTarget.read(method, request.uri(), headers, !http10);
    if (reading instanceof RequestTarget.Reading.Bad bad) {
      refuse(http10, method.equals("HEAD"), Problems.badRequest(bad.detail()));
      return;
    }
    open(request, ((RequestTarget.Reading.Good) reading).head(), http10);
  }

  private void open(HttpRequest request, RequestHead head, boolean http10) {
    boolean chunked = head.headers().contains("Transfer-Encoding");
    long length = chunked ? -1 : HttpUtil.getContentLength(request, 0L);
    Http1Stream stream =
        new Http1Stream(
            this,
            ctx(),
            head.method().equals("HEAD"),
            http10,
            HttpUtil.isKeepAlive(request),
            !http10 && length != 0 && head.headers().contains("Expect"));
    stream.requestComplete = length == 0;
    current = stream;
    stream.exchange =
        exchanges.open(head, length, http10 ? peers.http10() : peers.http11(), stream);
  }

  private void content(Http1Stream stream, HttpContent content) {
    if (content.decoderResult().isFailure()) {
      content.release();
      broken(
          stream, Problems.badRequest("The body's chunked coding or its trailers are malformed."));
      return;
    }
    boolean last = content instanceof LastHttpContent;
    stream.sawBody();
    stream.requestComplete = stream.requestComplete || last;
    if (content.content().isReadable()) {
      stream.exchange.body(new NettyChunk(content.content()));
    } else {
      content.release();
    }
    if (last) {
      stream.exchange.bodyEnd();
    }
  }

  /** The body can't be read to its end: nobody gets it, and the connection ends. */
  private void broken(Http1Stream stream, Response answer) {
    Exchange exchange = stream.exchange;
    stream.exchange = Exchange.ANSWERED;
    closing = true;
    exchange.clientGone();
    if (stream.isBegun()) {
      stream.abort();
    } else {
      stream.respond(answer);
    }
  }

  private void refuse(boolean http10, boolean isHead, Response answer) {
    closing = true;
    Http1Stream stream = new Http1Stream(this, ctx(), isHead, http10, false, false);
    current = stream;
    stream.respond(answer);
  }

  /** Makes a tunnel of the connection; null where the client sent more than its request. */
  @Nullable Tunnel upgrade(Http1Stream stream, Object answer) {
    if (stream != current || !queue.isEmpty() || decoder.isMidway() || inputShut) {
      return null;
    }
    current = null;
    ChannelFuture unused = ctx().writeAndFlush(answer, ctx().voidPromise());
    return server.tunnelOf(this, ctx().channel());
  }

  // ---- the end of an exchange

  boolean isClosing() {
    return closing || (inputShut && queue.isEmpty()) || server.isDraining();
  }

  /** The response is out. */
  void finished(Http1Stream stream, boolean close) {
    if (stream != current) {
      return;
    }
    if (!close) {
      current = null;
      since = System.nanoTime();
      pump();
      if (server.isDraining()) {
        // A response that began before the server stopped could not announce the end.
        drain();
      }
      return;
    }
    closing = true;
    if (stream.requestComplete && !decoder.isMidway() && queue.isEmpty()) {
      closeAfterFlush();
    } else {
      startLingering();
    }
  }

  private void closeAfterFlush() {
    ctx()
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(done -> Transport.close(ctx().channel()));
  }

  /** Reads on for a while, so that the client's unread bytes don't reset the answer away. */
  private void startLingering() {
    lingering = true;
    since = System.nanoTime();
    lingeringSince = since;
    queue.forEach(ReferenceCountUtil::release);
    queue.clear();
    if (inputShut) {
      closeAfterFlush();
      return;
    }
    ctx()
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(done -> TlsChannels.shutdownOutput(ctx().channel()));
    ctx().channel().config().setAutoRead(true);
  }

  private void linger(Object message) {
    since = System.nanoTime();
    if (message instanceof HttpContent content) {
      lingeringBytes += content.content().readableBytes();
    }
    ReferenceCountUtil.release(message);
    if (lingeringBytes > MOST_LINGERING_BYTES) {
      close();
    }
  }

  @Override
  public void close() {
    Transport.close(ctx().channel());
  }

  @Override
  public void drain() {
    if (current == null && queue.isEmpty() && !decoder.isMidway()) {
      // What a slow client has not taken yet of its last response still goes out.
      closeAfterFlush();
    }
  }

  // ---- the client's end

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      inputShut = true;
      if (lingering) {
        close();
      } else {
        pump();
      }
    }
    ctx.fireUserEventTriggered(event);
  }

  /** Everything that the client sent before it shut its side has been delivered. */
  private void inputEnded() {
    Http1Stream stream = current;
    if (stream == null) {
      closeAfterFlush();
    } else if (!stream.requestComplete) {
      stream.drop();
      stream.exchange.clientGone();
      close();
    }
    // Else a half-close after a whole request: the client waits for its answer (RFC 9112 §9.6).
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (!ctx.channel().isWritable()) {
      return;
    }
    if (current != null) {
      current.exchange.clientWritable();
    }
    pump();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof IOException)) {
      server.bug(cause);
    }
    close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    queue.forEach(ReferenceCountUtil::release);
    queue.clear();
    Http1Stream stream = current;
    current = null;
    if (stream != null && !stream.isOver()) {
      stream.drop();
      stream.exchange.clientGone();
    }
    server.closed(this);
  }

  @Override
  public void beat(long now) {
    outbound.look(ctx().channel(), now);
    if (outbound.stalledFor(now) > options.bodyTimeout().toNanos()) {
      // It takes nothing of its response: what waits for it is freed.
      close();
      return;
    }
    if (!outbound.isEmpty()) {
      since = now;
    }
    long quiet = now - since;
    Http1Stream stream = current;
    if (lingering) {
      boolean read = quiet > LINGERING_SILENCE_NANOS || now - lingeringSince > LINGERING_NANOS;
      if (read && outbound.isEmpty()) {
        close();
      }
    } else if (stream == null && decoder.isMidway()) {
      // Bytes that came while an earlier request was answered could not be read on before.
      long waited = Math.min(now - decoder.midwaySince(), quiet);
      if (waited > options.headTimeout().toNanos()) {
        refuse(false, false, Refusals.timeout());
      }
    } else if (stream == null) {
      if (quiet > options.idleTimeout().toNanos()) {
        close();
      }
    } else if (!stream.requestComplete && !stream.isOver() && !isBodyHeldBack()) {
      if (quiet > options.bodyTimeout().toNanos()) {
        broken(stream, Refusals.timeout());
      }
    }
  }
}
