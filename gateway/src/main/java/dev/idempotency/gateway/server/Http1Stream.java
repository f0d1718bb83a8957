package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.ClientStream;
import dev.idempotency.gateway.exchange.Exchange;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HttpDate;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.http.Tunnel;
import dev.idempotency.gateway.transport.FlatHeaders;
import dev.idempotency.gateway.transport.NettyChunk;
import dev.idempotency.gateway.transport.TlsChannels;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response on an HTTP/1.1 connection: makes the framing that the client's
 * version understands (RFC 9112 §6).
 */
final class Http1Stream implements ClientStream {

  private final Http1Handler connection;
  private final ChannelHandlerContext ctx;
  private final boolean isHead;
  private final boolean isHttp10;
  private final boolean persistent;
  private final boolean expectsContinue;

  Exchange exchange = Exchange.ANSWERED;
  boolean bodyWanted;
  boolean bodyPaused;
  boolean requestComplete;

  private boolean bodySeen;
  private boolean over;
  private @Nullable DefaultHttpResponse heldHead;
  private @Nullable ByteBuf heldChunk;
  private boolean begun;
  private boolean bodyless;
  private boolean chunked;
  private boolean closing;
  private boolean closeDelimited;

  /**
   * @param persistent whether the client wants to go on using the connection
   */
  Http1Stream(
      Http1Handler connection,
      ChannelHandlerContext ctx,
      boolean isHead,
      boolean isHttp10,
      boolean persistent,
      boolean expectsContinue) {
    this.connection = connection;
    this.ctx = ctx;
    this.isHead = isHead;
    this.isHttp10 = isHttp10;
    this.persistent = persistent;
    this.expectsContinue = expectsContinue;
  }

  /** Whether the client wants to go on using the connection. */
  boolean isPersistent() {
    return persistent;
  }

  /** Whether the response is out, or never will be. */
  boolean isOver() {
    return over;
  }

  /** Whether a part of the response is out. */
  boolean isBegun() {
    return begun;
  }

  // ---- the request's body

  @Override
  public void wantBody() {
    if (over || bodyWanted) {
      return;
    }
    bodyWanted = true;
    if (expectsContinue && !begun && !bodySeen && !connection.hasQueued()) {
      write(
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER),
          true);
    }
    connection.pump();
  }

  void sawBody() {
    bodySeen = true;
  }

  @Override
  public void pauseBody() {
    bodyPaused = true;
  }

  @Override
  public void resumeBody() {
    if (bodyPaused) {
      bodyPaused = false;
      connection.pump();
    }
  }

  // ---- the response

  @Override
  public void informational(ResponseHead head) {
    if (over || begun || isHttp10) {
      return;
    }
    write(
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(head.status()),
            Unpooled.EMPTY_BUFFER,
            new FlatHeaders(head.headers()),
            EmptyHttpHeaders.INSTANCE),
        true);
  }

  @Override
  public @Nullable Tunnel upgrade(ResponseHead head) {
    if (over || begun || isHttp10 || !requestComplete) {
      return null;
    }
    head.headers().add("Connection", "Upgrade").add("Upgrade", "websocket");
    Tunnel tunnel =
        connection.upgrade(
            this,
            new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.SWITCHING_PROTOCOLS,
                Unpooled.EMPTY_BUFFER,
                new FlatHeaders(head.headers()),
                EmptyHttpHeaders.INSTANCE));
    over = tunnel != null;
    return tunnel;
  }

  @Override
  public void respond(Response response) {
    if (over || begun) {
      return;
    }
    long length = response.trailers().isEmpty() || isHttp10 ? response.body().length : -1;
    begin(response.head(), length);
    if (response.body().length > 0) {
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
    Headers headers = head.headers();
    bodyless = isHead || head.neverHasContent();
    frame(head.status(), headers, contentLength);
    boolean http10KeepAlive = isHttp10 && !closing;
    if (closing || http10KeepAlive) {
      headers.add("Connection", closing ? "close" : "keep-alive");
    }
    if (!headers.contains("Date")) {
      headers.add("Date", HttpDate.now());
    }
    heldHead =
        new DefaultHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(head.status()),
            new FlatHeaders(headers));
  }

  private void frame(int status, Headers headers, long contentLength) {
    // Without the whole request the next one can't be found on this connection.
    closing = !persistent || !requestComplete || connection.isClosing();
    if (status == 304 && contentLength == 0) {
      // A length would be that of the representation (RFC 9110 §8.6), and nobody named one.
      return;
    }
    if (contentLength >= 0) {
      if (status != 204 && status >= 200) {
        headers.add("Content-Length", Long.toString(contentLength));
      }
    } else if (!bodyless && !isHttp10) {
      chunked = true;
      headers.add("Transfer-Encoding", "chunked");
    } else if (!bodyless) {
      closeDelimited = true;
      closing = true;
    }
  }

  @Override
  public void write(Chunk chunk) {
    ByteBuf buffer = NettyChunk.bufferOf(chunk);
    if (over || !begun || bodyless) {
      buffer.release();
    } else if (heldHead != null && heldChunk == null) {
      heldChunk = buffer;
    } else {
      writeHeld();
      write(new DefaultHttpContent(buffer), false);
    }
  }

  @Override
  public void end(Headers trailers) {
    if (over || !begun) {
      return;
    }
    over = true;
    DefaultHttpResponse head = heldHead;
    ByteBuf content = heldChunk == null ? Unpooled.EMPTY_BUFFER : heldChunk;
    boolean withTrailers = chunked && !trailers.isEmpty();
    if (head != null && !withTrailers) {
      heldHead = null;
      heldChunk = null;
      write(
          new DefaultFullHttpResponse(
              head.protocolVersion(),
              head.status(),
              content,
              head.headers(),
              EmptyHttpHeaders.INSTANCE),
          true);
    } else {
      writeHeld();
      write(
          withTrailers
              ? new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, new FlatHeaders(trailers))
              : LastHttpContent.EMPTY_LAST_CONTENT,
          true);
    }
    connection.finished(this, closing);
  }

  private void writeHeld() {
    DefaultHttpResponse head = heldHead;
    ByteBuf content = heldChunk;
    heldHead = null;
    heldChunk = null;
    if (head != null) {
      write(head, false);
    }
    if (content != null) {
      write(new DefaultHttpContent(content), false);
    }
  }

  private void write(Object message, boolean flush) {
    // A write that fails closes the connection, which is how the end of a client is learned.
    ChannelFuture unused = ctx.write(message, ctx.voidPromise());
    if (flush) {
      ctx.flush();
    }
  }

  @Override
  public void flush() {
    if (begun && !over) {
      writeHeld();
      ctx.flush();
    }
  }

  @Override
  public boolean takeBack() {
    if (over || heldHead == null) {
      return over;
    }
    dropHeld();
    begun = false;
    chunked = false;
    closeDelimited = false;
    return true;
  }

  @Override
  public void abort() {
    if (over) {
      return;
    }
    drop();
    // A part of a response says more than none.
    ctx.flush();
    if (closeDelimited) {
      // Only a reset tells this client that the end is not the end (RFC 9112 §8).
      TlsChannels.reset(ctx.channel());
    } else {
      connection.close();
    }
  }

  /** The client is gone. */
  void drop() {
    over = true;
    dropHeld();
  }

  private void dropHeld() {
    heldHead = null;
    if (heldChunk != null) {
      heldChunk.release();
      heldChunk = null;
    }
  }

  @Override
  public boolean isWritable() {
    return over || ctx.channel().isWritable();
  }
}
