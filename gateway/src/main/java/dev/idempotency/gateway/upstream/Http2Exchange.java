package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.ResponseReceiver;
import dev.idempotency.gateway.exchange.ResponseReceiver.Failure;
import dev.idempotency.gateway.exchange.UpstreamConnection;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.transport.NettyChunk;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * A place on an HTTP/2 connection, and the one exchange that it carries. Its stream begins with the
 * first byte that is written, so that a place can be given back without a trace.
 *
 * <p>Threading: event loop of the connection only.
 */
final class Http2Exchange implements UpstreamConnection {

  private final Http2Link link;
  private final Http2Streams streams;
  private final LinkOwner owner;

  private @Nullable ResponseReceiver receiver;
  private @Nullable Http2Response response;
  private @Nullable Http2Headers heldHead;
  private @Nullable Http2Stream stream;
  private boolean requestEnded;
  private boolean awaitsRoom;
  private boolean over;
  private boolean overdue;
  private boolean heard;
  private long quietSince;
  private boolean paused;
  private int owed;

  Http2Exchange(Http2Link link, Http2Streams streams, LinkOwner owner) {
    this.link = link;
    this.streams = streams;
    this.owner = owner;
  }

  // ---- the request

  @Override
  public boolean send(RequestHead head, byte[] body, ResponseReceiver to) {
    if (!begin(head, body.length, to)) {
      return false;
    }
    if (!open(body.length == 0)) {
      leave();
      return false;
    }
    requestEnded = true;
    if (body.length > 0) {
      write(Unpooled.wrappedBuffer(body), true);
    }
    streams.flush();
    return true;
  }

  @Override
  public boolean begin(RequestHead head, long contentLength, ResponseReceiver to) {
    if (over || !streams.canOpen()) {
      leave();
      return false;
    }
    receiver = to;
    response = new Http2Response(head.method().equals("HEAD"));
    quietSince = owner.nanoTime();
    heldHead = Http2Fields.request(head, link.scheme(), owner.authority(), contentLength);
    return true;
  }

  /** Begins the stream; false: the server allows none any more, and surely nothing was sent. */
  private boolean open(boolean last) {
    Http2Headers head = heldHead;
    heldHead = null;
    stream = head == null ? null : streams.open(this, head, last);
    return stream != null;
  }

  @Override
  public void write(Chunk chunk) {
    ByteBuf buffer = NettyChunk.bufferOf(chunk);
    if (receiver == null || requestEnded || !openHeld(false)) {
      buffer.release();
    } else {
      write(buffer, false);
    }
  }

  private void write(ByteBuf data, boolean last) {
    Http2Stream live = stream;
    if (live == null || over) {
      data.release();
      return;
    }
    quietSince = owner.nanoTime();
    streams.write(live, data, last);
  }

  /** Writes the head if that was not done; false if nothing can be sent. */
  private boolean openHeld(boolean last) {
    if (heldHead != null && !open(last)) {
      fail(Failure.NOT_PROCESSED);
      return false;
    }
    return receiver != null;
  }

  @Override
  public void end() {
    if (receiver == null || requestEnded) {
      return;
    }
    requestEnded = true;
    quietSince = owner.nanoTime();
    if (heldHead == null) {
      write(Unpooled.EMPTY_BUFFER, true);
    } else if (!openHeld(true)) {
      return;
    }
    streams.flush();
  }

  @Override
  public void flush() {
    if (receiver != null && openHeld(false)) {
      streams.flush();
    }
  }

  @Override
  public boolean isWritable() {
    Http2Stream live = stream;
    boolean writable = live == null || over || streams.isWritable(live);
    awaitsRoom |= !writable;
    return writable;
  }

  /** The flow control of the connection says that this changed. */
  void writabilityChanged() {
    if (awaitsRoom && receiver != null && !requestEnded && isWritable()) {
      awaitsRoom = false;
      receiver.writable();
    }
  }

  /** The server takes more of the request, slow as it may be. */
  void windowGrew() {
    quietSince = owner.nanoTime();
  }

  // ---- the response

  @Override
  public void pauseResponse() {
    paused = true;
  }

  @Override
  public void resumeResponse() {
    if (!paused) {
      return;
    }
    paused = false;
    quietSince = owner.nanoTime();
    int bytes = owed;
    owed = 0;
    Http2Stream live = stream;
    if (bytes > 0 && live != null) {
      streams.consumed(live, bytes);
    }
  }

  /** A head, an interim one or trailers. */
  void headers(Http2Headers fields, boolean last) {
    ResponseReceiver to = receiver;
    Http2Response state = response;
    if (to == null || state == null) {
      return;
    }
    hear();
    if (!state.headers(fields, last, to)) {
      malformed();
    } else if (last && receiver == to) {
      end(to, state);
    }
  }

  /**
   * A piece of the body; it stays the caller's.
   *
   * @return how many of its bytes make room for others at once, padding included
   */
  int data(ByteBuf content, int padding, boolean last) {
    ResponseReceiver to = receiver;
    Http2Response state = response;
    int bytes = content.readableBytes();
    if (to == null || state == null) {
      return bytes + padding;
    }
    hear();
    if (!state.takes(bytes, last)) {
      malformed();
      return bytes + padding;
    }
    if (bytes > 0) {
      to.chunk(new NettyChunk(content.retainedSlice()));
    }
    if (last && receiver == to) {
      end(to, state);
    }
    if (!paused || over) {
      return bytes + padding;
    }
    // The server may send no more than its window until the client takes what there is.
    owed += bytes;
    return padding;
  }

  private void hear() {
    quietSince = owner.nanoTime();
    if (!heard) {
      heard = true;
      streams.heard(this);
    }
  }

  /** The burst of reading is over. */
  void flushReceiver() {
    heard = false;
    if (receiver != null) {
      receiver.flush();
    }
  }

  private void end(ResponseReceiver to, Http2Response state) {
    receiver = null;
    heldHead = null;
    if (!overdue) {
      owner.succeeded(link);
    }
    Http2Stream live = stream;
    if (live != null && live.state() != Http2Stream.State.HALF_CLOSED_LOCAL) {
      // The server has said all without having read all: it wants no more (RFC 9113 §8.1).
      streams.reset(live, Http2Error.CANCEL);
    }
    over = true;
    to.end(state.trailers());
  }

  private void malformed() {
    fail(Failure.MALFORMED);
    reset(Http2Error.PROTOCOL_ERROR);
  }

  // ---- other ends

  /** The server ended the stream before its response was whole (RFC 9113 §8.7). */
  void resetByServer(long code) {
    fail(code == Http2Error.REFUSED_STREAM.code() ? Failure.NOT_PROCESSED : Failure.CLOSED);
  }

  /** The server will not look at this stream (RFC 9113 §6.8). */
  void abandonedByServer() {
    fail(Failure.NOT_PROCESSED);
  }

  /**
   * Something about the stream is wrong, and it is reset.
   *
   * @param outbound whether that is so for what we send; it is, too, for what was not sent yet when
   *     the connection closed
   * @param headSent whether any byte of the request can have left
   */
  void broken(boolean outbound, boolean headSent) {
    Failure wrong = outbound ? Failure.CLOSED : Failure.MALFORMED;
    fail(headSent ? wrong : Failure.NOT_PROCESSED);
  }

  /** The connection broke, or what came on it is not HTTP/2. */
  void lost(Failure failure) {
    fail(stream == null ? Failure.NOT_PROCESSED : failure);
  }

  /** The stream is over for both sides, whatever the reason. */
  void closed() {
    fail(Failure.CLOSED);
    leave();
  }

  private void fail(Failure failure) {
    ResponseReceiver to = receiver;
    if (to == null) {
      return;
    }
    Http2Response state = response;
    // Who answers has processed: such a server's word counts for nothing.
    boolean contradicts = failure == Failure.NOT_PROCESSED && state != null && state.isBegun();
    Failure told = contradicts ? Failure.CLOSED : failure;
    forget();
    if (told != Failure.NOT_PROCESSED && !overdue) {
      owner.failed(link);
    }
    to.failed(told);
    if (stream == null) {
      leave();
    }
  }

  /** Nothing is said to the receiver any more. */
  private void forget() {
    receiver = null;
    heldHead = null;
    over = true;
  }

  private void reset(Http2Error error) {
    Http2Stream live = stream;
    if (live == null) {
      leave();
    } else {
      streams.reset(live, error);
      streams.flush();
      link.checkOver();
    }
  }

  /** The place is free. */
  private void leave() {
    forget();
    link.left(this);
  }

  @Override
  public void cancel() {
    forget();
    reset(Http2Error.CANCEL);
  }

  @Override
  public void giveBack() {
    if (stream == null) {
      leave();
    }
  }

  // ---- time

  /** Whether somebody waits for its response, or is about to use its place. */
  boolean isAlive() {
    return !over;
  }

  boolean isOverdue() {
    return receiver != null && overdue;
  }

  /** Called at every beat of the pool. */
  void beat(long now) {
    ResponseReceiver to = receiver;
    boolean waitsForClient = paused || (!requestEnded && isWritable());
    if (to == null || waitsForClient) {
      return;
    }
    long quiet = now - quietSince;
    if (!overdue && quiet > owner.options().responseTimeout().toNanos()) {
      overdue(to, now);
    } else if (overdue && quiet > owner.options().lateResponse().toNanos()) {
      giveUp();
    }
  }

  private void overdue(ResponseReceiver to, long now) {
    link.overdue(now - quietSince, now);
    overdue = true;
    quietSince = now;
    owner.failed(link);
    to.overdue();
    if (receiver == to && !owner.mayKeepOverdue()) {
      giveUp();
    }
  }

  private void giveUp() {
    fail(Failure.TIMEOUT);
    reset(Http2Error.CANCEL);
  }
}
