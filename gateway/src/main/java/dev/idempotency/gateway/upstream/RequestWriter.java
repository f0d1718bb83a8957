package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.transport.FlatHeaders;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * Writes the requests of one HTTP/1.1 connection, one after the other. Most bodies are one chunk,
 * and go out with their head in one piece.
 *
 * <p>Threading: event loop of the channel only.
 */
final class RequestWriter {

  private final LinkOwner owner;
  private final Channel channel;
  private final Runnable progress;
  private final ChannelFutureListener lastWritten = this::lastWritten;
  private @Nullable DefaultHttpRequest heldHead;
  private @Nullable ByteBuf heldChunk;
  private boolean open;
  private boolean ended;
  private boolean written;
  private boolean failed;

  /**
   * @param progress called when a part of the request is on its way
   */
  RequestWriter(LinkOwner owner, Channel channel, Runnable progress) {
    this.owner = owner;
    this.channel = channel;
    this.progress = progress;
  }

  /** Begins a request; its framing fields are made here. Nothing is sent before {@link #flush}. */
  void begin(RequestHead head, long contentLength) {
    open = true;
    ended = false;
    written = false;
    Headers headers = head.headers();
    // Trailers come as they may; TE would have to be nominated by Connection (RFC 9110 §10.1.4).
    headers.remove("TE");
    if (!headers.contains("Host")) {
      // An HTTP/1.0 client need not send one; this request is HTTP/1.1 (RFC 9112 §3.2).
      headers.add("Host", owner.authority());
    }
    if (contentLength < 0) {
      headers.add("Transfer-Encoding", "chunked");
    } else if (contentLength > 0 || hasContentByMeaning(head.method())) {
      headers.add("Content-Length", Long.toString(contentLength));
    }
    heldHead =
        new DefaultHttpRequest(
            HttpVersion.HTTP_1_1,
            HttpMethod.valueOf(head.method()),
            head.target(),
            new FlatHeaders(headers));
  }

  /** Methods whose requests say so when they have no content (RFC 9110 §8.6). */
  private static boolean hasContentByMeaning(String method) {
    return method.equals("POST") || method.equals("PUT") || method.equals("PATCH");
  }

  /** Takes the buffer over. */
  void write(ByteBuf buffer) {
    if (!open || ended) {
      buffer.release();
    } else if (heldHead != null && heldChunk == null) {
      heldChunk = buffer;
    } else {
      writeHeld();
      send(new DefaultHttpContent(buffer));
    }
  }

  /** Ends the request and sends it. */
  void end() {
    if (!open || ended) {
      return;
    }
    ended = true;
    progress.run();
    DefaultHttpRequest head = heldHead;
    if (head == null) {
      sendLast(LastHttpContent.EMPTY_LAST_CONTENT);
      return;
    }
    ByteBuf content = heldChunk == null ? Unpooled.EMPTY_BUFFER : heldChunk;
    heldHead = null;
    heldChunk = null;
    sendLast(
        new DefaultFullHttpRequest(
            head.protocolVersion(),
            head.method(),
            head.uri(),
            content,
            head.headers(),
            EmptyHttpHeaders.INSTANCE));
  }

  void flush() {
    if (open) {
      writeHeld();
      channel.flush();
    }
  }

  /** The exchange is over: nothing more of its request is sent. */
  void drop() {
    open = false;
    heldHead = null;
    if (heldChunk != null) {
      heldChunk.release();
      heldChunk = null;
    }
  }

  private void writeHeld() {
    DefaultHttpRequest head = heldHead;
    ByteBuf content = heldChunk;
    heldHead = null;
    heldChunk = null;
    if (head != null) {
      send(head);
    }
    if (content != null) {
      send(new DefaultHttpContent(content));
    }
  }

  private void send(Object message) {
    progress.run();
    channel.write(message).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
  }

  private void sendLast(Object message) {
    channel.writeAndFlush(message).addListener(lastWritten);
  }

  private void lastWritten(ChannelFuture future) {
    written = future.isSuccess();
    progress.run();
    failed |= !future.isSuccess();
    // A failure says nothing of the response, which may wait in the receive buffer: it is read
    // until the connection's end is seen there.
  }

  /** Whether the request was handed over whole. */
  boolean isEnded() {
    return ended;
  }

  /** Whether the whole request left. */
  boolean isWritten() {
    return written;
  }

  void failed() {
    failed = true;
  }

  /** Whether a write failed, so that the socket's error is used up. */
  boolean hasFailed() {
    return failed;
  }
}
