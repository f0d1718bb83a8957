package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Exchange;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.exchange.Peer;
import dev.idempotency.gateway.exchange.Result;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.Tunnel;
import dev.idempotency.gateway.transport.NettyChunk;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A client's HTTP/1.1 connection: one exchange at a time, in the order of the requests. What was
 * read ahead waits in a queue, and nothing more is read while something waits there.
 */
final class Http1Handler extends ChannelInboundHandlerAdapter implements ClientConnection {

  private final HttpServer server;
  private final RequestDecoder decoder;
  private final Exchanges exchanges;
  private final ArrayDeque<Incoming> queue = new ArrayDeque<>();
  private final Peers peers;
  private final RequestHeads heads;
  private final Deadlines deadlines;
  private final Ending ending;
  private @Nullable ChannelHandlerContext context;
  private @Nullable Http1Stream current;
  private boolean reading;
  private boolean pumping;
  private boolean closing;
  private boolean inputShut;

  Http1Handler(
      HttpServer server,
      ServerOptions options,
      RequestDecoder decoder,
      Exchanges exchanges,
      Peers peers) {
    this.server = server;
    this.decoder = decoder;
    this.exchanges = exchanges;
    this.peers = peers;
    this.deadlines = new Deadlines(options, decoder);
    this.ending = new Ending(decoder);
    this.heads = new RequestHeads(options, peers.http11().scheme());
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
    Incoming incoming = (Incoming) message;
    reading = true;
    if (ending.lingering() != null) {
      Incoming.release(incoming);
      return;
    }
    deadlines.restart();
    if (incoming instanceof Incoming.Body body) {
      deadlines.bodyCame(body.bytes().readableBytes());
    }
    queue.add(incoming);
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
  private boolean deliver(Incoming incoming) {
    Http1Stream stream = current;
    if (incoming instanceof Incoming.Body body) {
      return deliver(body, stream);
    }
    boolean within = incoming instanceof Incoming.Bad && stream != null && !stream.requestComplete;
    if (!within && (stream != null || !ctx().channel().isWritable())) {
      // A client that sends and does not read gets no further answers made, nor memory for them.
      return false;
    }
    queue.remove();
    if (incoming instanceof Incoming.Head head) {
      open(head);
    } else {
      refuse((Incoming.Bad) incoming, stream);
    }
    return true;
  }

  private boolean deliver(Incoming.Body body, @Nullable Http1Stream stream) {
    if (stream == null) {
      queue.remove();
      body.release();
      return true;
    }
    if (!stream.isOver() && (!stream.bodyWanted || stream.bodyPaused)) {
      // The end of a request without a body needs no asking.
      if (body.bytes().isReadable() || !body.isLast()) {
        return false;
      }
    }
    queue.remove();
    body(stream, body);
    return true;
  }

  private void open(Incoming.Head head) {
    RequestHeads.Verdict verdict =
        heads.judge(head.method(), null, head.target(), head.headers(), !head.isHttp10());
    deadlines.requestBegins();
    if (verdict instanceof RequestHeads.Verdict.Good good) {
      Http1Stream stream = begin(head);
      Peer peer = head.isHttp10() ? peers.http10() : peers.http11();
      stream.exchange = exchanges.open(good.head(), head.length(), peer, stream);
    } else if (verdict instanceof RequestHeads.Verdict.Answered answered) {
      exchanges.answered(head.method(), head.target(), Result.PASSED, answered.response().status());
      begin(head).respond(answered.response());
    } else {
      Response answer = ((RequestHeads.Verdict.Refused) verdict).response();
      exchanges.answered(head.method(), head.target(), Result.BAD_REQUEST, answer.status());
      refuse(head.method(), head.isHttp10(), answer);
    }
  }

  private Http1Stream begin(Incoming.Head head) {
    Http1Stream stream =
        new Http1Stream(
            this,
            ctx(),
            head.method().equals("HEAD"),
            head.isHttp10(),
            head.isPersistent(),
            head.expectsContinue());
    stream.requestComplete = head.length() == 0;
    current = stream;
    return stream;
  }

  private void body(Http1Stream stream, Incoming.Body body) {
    stream.sawBody();
    stream.requestComplete = stream.requestComplete || body.isLast();
    if (body.bytes().isReadable()) {
      stream.exchange.body(new NettyChunk(body.bytes()));
    } else {
      body.release();
    }
    if (body.isLast()) {
      stream.exchange.bodyEnd();
    }
  }

  // ---- refusing

  /** Where a request is due, or within the body of one, there is something else. */
  private void refuse(Incoming.Bad bad, @Nullable Http1Stream stream) {
    if (stream == null) {
      exchanges.answered(bad.method(), "", Result.BAD_REQUEST, bad.answer().status());
      refuse(bad.method(), bad.isHttp10(), bad.answer());
    } else if (!stream.isOver()) {
      broken(stream, bad.answer());
    }
  }

  /** The body can't be read to its end: nobody gets it, and the connection ends. */
  private void broken(Http1Stream stream, Response answer) {
    Exchange exchange = stream.exchange;
    stream.exchange = Exchange.ANSWERED;
    closing = true;
    boolean told = !stream.isBegun() || stream.takeBack();
    exchange.requestBroken(told ? answer.status() : 0);
    if (told) {
      stream.respond(answer);
    } else {
      stream.abort();
    }
  }

  private void refuse(String method, boolean http10, Response answer) {
    closing = true;
    Http1Stream stream = new Http1Stream(this, ctx(), method.equals("HEAD"), http10, false, false);
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
      deadlines.restart();
      pump();
      if (server.isDraining() && isAtRest()) {
        // A response that began before the server stopped could not announce the end.
        closing = true;
        ending.linger(ctx());
      }
      return;
    }
    closing = true;
    // A client that did not ask for the end may have sent its next request before it hears of it.
    boolean nothingComes =
        inputShut
            || (!stream.isPersistent()
                && stream.requestComplete
                && !decoder.isMidway()
                && queue.isEmpty());
    dropQueue();
    if (nothingComes) {
      ending.afterFlush(ctx());
    } else {
      ending.linger(ctx());
    }
  }

  private void dropQueue() {
    queue.forEach(Incoming::release);
    queue.clear();
  }

  @Override
  public void close() {
    Transport.close(ctx().channel());
  }

  /** One that came while the server began to drain was not told. */
  private void endIfDraining() {
    if (server.isDraining() && !closing) {
      drain();
    }
  }

  private boolean isAtRest() {
    return current == null && queue.isEmpty() && !decoder.isMidway();
  }

  @Override
  public void drain() {
    if (isAtRest()) {
      closing = true;
      // What a slow client has not taken yet of its last response still goes out.
      ending.afterFlush(ctx());
    }
  }

  // ---- the client's end

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      inputShut = true;
      if (ending.lingering() != null) {
        // It has nothing more to say, but may still be reading what it was told.
        ending.afterFlush(ctx);
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
      ending.afterFlush(ctx());
    } else if (!stream.requestComplete && !stream.isOver()) {
      stream.drop();
      stream.exchange.clientGone();
      // Answers to the requests before this one may still be on their way.
      ending.afterFlush(ctx());
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
    dropQueue();
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
    Http1Stream stream = current;
    switch (deadlines.look(now, ctx().channel(), stream, isBodyHeldBack(), ending.lingering())) {
      case NOTHING -> endIfDraining();
      case CLOSE -> close();
      case LATE_HEAD -> refuse(new Incoming.Bad("", false, Refusals.timeout()), null);
      case LATE_BODY -> refuse(new Incoming.Bad("", false, Refusals.timeout()), stream);
    }
  }
}
