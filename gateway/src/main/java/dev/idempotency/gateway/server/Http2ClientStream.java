package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.ClientStream;
import dev.idempotency.gateway.exchange.Exchange;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.transport.NettyChunk;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response on a stream of an HTTP/2 connection. The head of the response waits
 * for what follows it, so that a response that is whole goes out as whole frames: one block with
 * END_STREAM where there is nothing else.
 */
final class Http2ClientStream implements ClientStream {

  private static final int SWITCHING_PROTOCOLS = 101;

  private final Http2Handler connection;
  private final Http2Stream wire;
  private final boolean isHead;
  private final boolean expectsContinue;
  private final Http2Body body = new Http2Body(this);

  /** Changed by {@link Http2Deadlines} only. */
  final Http2Progress progress;

  private Exchange exchange = Exchange.ANSWERED;
  private @Nullable Http2Headers heldHead;
  private @Nullable ByteBuf heldChunk;
  private int wholeBytes;
  private boolean begun;
  private boolean bodyless;
  private boolean over;
  private boolean gone;

  Http2ClientStream(
      Http2Handler connection, Http2Stream wire, boolean isHead, boolean expectsContinue) {
    this.connection = connection;
    this.wire = wire;
    this.isHead = isHead;
    this.expectsContinue = expectsContinue;
    this.progress = new Http2Progress(connection.options(), System.nanoTime());
  }

  /** The exchange that was opened for this, maybe after this was answered or went. */
  void opened(Exchange own) {
    exchange = own;
    if (gone) {
      leave(Exchange::clientGone);
    }
  }

  Exchange exchange() {
    return exchange;
  }

  Http2Body body() {
    return body;
  }

  Http2Stream wire() {
    return wire;
  }

  /** Whether the response is given, or never will be. */
  boolean isOver() {
    return over;
  }

  /** Whether a response was begun. */
  boolean isBegun() {
    return begun;
  }

  // ---- the request's body

  @Override
  public void wantBody() {
    if (over) {
      return;
    }
    if (expectsContinue && !body.isWanted() && !body.isBegun() && !begun) {
      Http2Headers block = new DefaultHttp2Headers(false, 1);
      connection.writeHeaders(wire, block.status("100"), false);
      connection.flushSoon();
    }
    body.want();
    connection.delivered(this);
  }

  @Override
  public void pauseBody() {
    body.pause();
  }

  @Override
  public void resumeBody() {
    body.resume();
    connection.delivered(this);
  }

  /** The exchange took so much: the client may send as much again. */
  void bodyTaken(int bytes) {
    connection.giveWindowBack(wire, bytes);
  }

  // ---- the response

  @Override
  public void informational(ResponseHead head) {
    // There is no 101 in this version (RFC 9113 §8.6).
    if (!over && !begun && head.status() != SWITCHING_PROTOCOLS) {
      connection.writeHeaders(wire, Http2Heads.informational(head), false);
      connection.flushSoon();
    }
  }

  @Override
  public void respond(Response response) {
    if (over || begun) {
      return;
    }
    begin(response.head(), response.body().length);
    if (response.body().length > 0) {
      if (!bodyless) {
        wholeBytes = response.body().length;
        connection.holds(wholeBytes);
      }
      write(new NettyChunk(Unpooled.wrappedBuffer(response.body())));
    }
    end(response.trailers());
  }

  @Override
  public void begin(ResponseHead head, long contentLength) {
    if (over || begun) {
      return;
    }
    begun = true;
    bodyless = isHead || head.neverHasContent();
    heldHead = Http2Heads.response(head, contentLength);
  }

  @Override
  public void write(Chunk chunk) {
    ByteBuf buffer = NettyChunk.bufferOf(chunk);
    if (over || !begun || bodyless || !buffer.isReadable()) {
      buffer.release();
    } else if (heldHead != null && heldChunk == null) {
      heldChunk = buffer;
    } else {
      writeHeld();
      connection.writeData(wire, buffer, false);
    }
  }

  @Override
  public void end(Headers trailers) {
    if (over || !begun) {
      return;
    }
    over = true;
    body.drop();
    boolean withTrailers = !bodyless && !trailers.isEmpty();
    Http2Headers head = heldHead;
    ByteBuf content = heldChunk;
    heldHead = null;
    heldChunk = null;
    boolean contentEnds = content != null && !withTrailers;
    boolean headEnds = head != null && content == null && !withTrailers;
    if (head != null) {
      connection.writeHeaders(wire, head, headEnds);
    }
    if (content != null) {
      connection.writeData(wire, content, contentEnds);
    }
    if (withTrailers) {
      connection.writeHeaders(wire, Http2Heads.trailers(trailers), true);
    } else if (!headEnds && !contentEnds) {
      connection.writeData(wire, Unpooled.EMPTY_BUFFER, true);
    }
    connection.flushSoon();
  }

  private void writeHeld() {
    Http2Headers head = heldHead;
    ByteBuf content = heldChunk;
    heldHead = null;
    heldChunk = null;
    if (head != null) {
      connection.writeHeaders(wire, head, false);
    }
    if (content != null) {
      connection.writeData(wire, content, false);
    }
  }

  @Override
  public void flush() {
    // The end of a response without content follows at once, and then it is one frame.
    if (begun && !over && !bodyless) {
      writeHeld();
      connection.flushSoon();
    }
  }

  @Override
  public boolean takeBack() {
    if (over || heldHead == null) {
      return over;
    }
    dropHeld();
    begun = false;
    return true;
  }

  @Override
  public void abort() {
    abort(Http2Error.INTERNAL_ERROR);
  }

  private void abort(Http2Error error) {
    if (!over) {
      over = true;
      dropHeld();
      body.drop();
      connection.reset(wire, error);
    }
  }

  @Override
  public boolean isWritable() {
    return over || connection.isWritable(wire);
  }

  // ---- other ends

  /** The rest of the body does not come in time: the exchange ends, and the client is told. */
  void timeOut() {
    Response answer = Refusals.timeout();
    boolean told = !begun || takeBack();
    leave(own -> own.requestBroken(told ? answer.status() : 0));
    if (told) {
      respond(answer);
    } else {
      abort(Http2Error.CANCEL);
    }
  }

  /** The client is not there for the rest of it any more. */
  void gone() {
    if (gone) {
      return;
    }
    gone = true;
    body.drop();
    if (!over) {
      over = true;
      dropHeld();
      leave(Exchange::clientGone);
    }
  }

  /** The stream is closed: nothing of it waits to be sent any more. */
  void closed() {
    gone();
    connection.holds(-wholeBytes);
    wholeBytes = 0;
  }

  private void leave(Consumer<Exchange> how) {
    Exchange own = exchange;
    exchange = Exchange.ANSWERED;
    body.drop();
    how.accept(own);
    connection.left(own);
  }

  private void dropHeld() {
    heldHead = null;
    if (heldChunk != null) {
      heldChunk.release();
      heldChunk = null;
    }
  }
}
