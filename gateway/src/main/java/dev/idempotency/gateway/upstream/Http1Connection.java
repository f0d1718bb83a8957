package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.ResponseReceiver;
import dev.idempotency.gateway.exchange.UpstreamConnection;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.http.Tunnel;
import dev.idempotency.gateway.transport.ChannelTunnel;
import dev.idempotency.gateway.transport.FlatHeaders;
import dev.idempotency.gateway.transport.NettyChunk;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/** One HTTP/1.1 connection to an upstream. */
final class Http1Connection extends ChannelInboundHandlerAdapter implements UpstreamConnection {

  private final HttpUpstream pool;
  private final ResponseDecoder decoder;
  private final Channel channel;
  private final ChannelFutureListener lastWritten = this::lastWritten;

  private @Nullable ResponseReceiver receiver;
  private @Nullable DefaultHttpRequest heldHead;
  private @Nullable ByteBuf heldChunk;
  private boolean requestEnded;
  private boolean requestWritten;
  private boolean finalHead;
  private boolean interim;
  private boolean keepAlive;
  private boolean closeDelimited;
  private boolean writeFailed;
  private boolean overdue;
  private boolean upgrading;
  private long quietSince;
  private boolean paused;

  Http1Connection(HttpUpstream pool, ResponseDecoder decoder, Channel channel) {
    this.pool = pool;
    this.decoder = decoder;
    this.channel = channel;
  }

  Channel channel() {
    return channel;
  }

  // ---- the request

  @Override
  public boolean send(RequestHead head, byte[] body, ResponseReceiver to) {
    if (!start(head, body.length, to)) {
      return false;
    }
    heldChunk = body.length == 0 ? null : Unpooled.wrappedBuffer(body);
    end();
    return true;
  }

  @Override
  public boolean begin(RequestHead head, long contentLength, ResponseReceiver to) {
    return start(head, contentLength, to);
  }

  @Override
  public boolean upgrade(RequestHead head, ResponseReceiver to) {
    head.headers().add("Connection", "Upgrade").add("Upgrade", "websocket");
    if (!start(head, 0, to)) {
      return false;
    }
    upgrading = true;
    end();
    return true;
  }

  private boolean start(RequestHead head, long contentLength, ResponseReceiver to) {
    assert channel.eventLoop().inEventLoop();
    if (!channel.isActive()) {
      return false;
    }
    receiver = to;
    requestEnded = false;
    requestWritten = false;
    finalHead = false;
    closeDelimited = false;
    interim = false;
    overdue = false;
    upgrading = false;
    quietSince = pool.nanoTime();
    decoder.expect(head.method().equals("HEAD"));
    Headers headers = head.headers();
    // Trailers come as they may; TE would have to be nominated by Connection (RFC 9110 §10.1.4).
    headers.remove("TE");
    if (!headers.contains("Host")) {
      // An HTTP/1.0 client need not send one; this request is HTTP/1.1 (RFC 9112 §3.2).
      headers.add("Host", pool.authority());
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
    return true;
  }

  /** Methods whose requests say so when they have no content (RFC 9110 §8.6). */
  private static boolean hasContentByMeaning(String method) {
    return method.equals("POST") || method.equals("PUT") || method.equals("PATCH");
  }

  @Override
  public void write(Chunk chunk) {
    ByteBuf buffer = NettyChunk.bufferOf(chunk);
    if (receiver == null || requestEnded) {
      buffer.release();
    } else if (heldHead != null && heldChunk == null) {
      // Kept back for a moment: most bodies are one chunk, and go out with their head in one piece.
      heldChunk = buffer;
    } else {
      writeHeld();
      write(new DefaultHttpContent(buffer));
    }
  }

  @Override
  public void end() {
    if (receiver == null || requestEnded) {
      return;
    }
    requestEnded = true;
    quietSince = pool.nanoTime();
    DefaultHttpRequest head = heldHead;
    if (head == null) {
      writeLast(LastHttpContent.EMPTY_LAST_CONTENT);
      return;
    }
    ByteBuf content = heldChunk == null ? Unpooled.EMPTY_BUFFER : heldChunk;
    heldHead = null;
    heldChunk = null;
    writeLast(
        new DefaultFullHttpRequest(
            head.protocolVersion(),
            head.method(),
            head.uri(),
            content,
            head.headers(),
            EmptyHttpHeaders.INSTANCE));
  }

  private void writeLast(Object message) {
    channel.writeAndFlush(message).addListener(lastWritten);
  }

  private void write(Object message) {
    quietSince = pool.nanoTime();
    channel.write(message).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
  }

  private void writeHeld() {
    DefaultHttpRequest head = heldHead;
    ByteBuf content = heldChunk;
    heldHead = null;
    heldChunk = null;
    if (head != null) {
      write(head);
    }
    if (content != null) {
      write(new DefaultHttpContent(content));
    }
  }

  @Override
  public void flush() {
    if (receiver != null) {
      writeHeld();
      channel.flush();
    }
  }

  private void lastWritten(ChannelFuture written) {
    requestWritten = written.isSuccess();
    quietSince = pool.nanoTime();
    writeFailed |= !written.isSuccess();
    // A failure says nothing of the response, which may wait in the receive buffer: it is read
    // until the connection's end is seen there.
  }

  @Override
  public boolean isWritable() {
    return channel.isWritable();
  }

  // ---- the response

  @Override
  public void pauseResponse() {
    paused = true;
    channel.config().setAutoRead(false);
  }

  @Override
  public void resumeResponse() {
    if (paused) {
      paused = false;
      quietSince = pool.nanoTime();
      channel.config().setAutoRead(true);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    quietSince = pool.nanoTime();
    if (receiver == null) {
      ReferenceCountUtil.release(message);
      return;
    }
    if (message instanceof HttpResponse response) {
      if (response.decoderResult().isFailure()) {
        fail(ResponseReceiver.Failure.MALFORMED);
        return;
      }
      head(response);
    }
    if (message instanceof HttpContent content) {
      content(content);
    }
  }

  private void head(HttpResponse response) {
    ResponseReceiver to = receiver;
    if (to == null) {
      return;
    }
    int status = response.status().code();
    interim = status < 200;
    ResponseHead head = new ResponseHead(status, FlatHeaders.of(response.headers()));
    if (upgrading && status == 101) {
      receiver = null;
      Tunnel tunnel = ChannelTunnel.takeOver(channel, () -> pool.closed(this));
      to.upgraded(head, tunnel);
    } else if (!ResponseDecoder.isUnderstood(response)) {
      fail(ResponseReceiver.Failure.MALFORMED);
    } else if (interim) {
      to.informational(head);
    } else {
      finalHead = true;
      boolean chunked = HttpUtil.isTransferEncodingChunked(response);
      long length = chunked ? -1 : HttpUtil.getContentLength(response, -1L);
      // A response without length ends with its connection, unless it never has content.
      closeDelimited = !chunked && length < 0 && decoder.hasContent(head);
      keepAlive = HttpUtil.isKeepAlive(response) && !closeDelimited;
      to.head(head, length);
    }
  }

  private void content(HttpContent content) {
    ResponseReceiver to = receiver;
    if (to == null) {
      content.release();
      return;
    }
    if (content.decoderResult().isFailure()) {
      content.release();
      fail(ResponseReceiver.Failure.MALFORMED);
      return;
    }
    boolean last = content instanceof LastHttpContent;
    if (last && closeDelimited && writeFailed) {
      // The write took the reset from the socket; what then looks like a close is none.
      content.release();
      fail(ResponseReceiver.Failure.CLOSED);
      return;
    }
    if (content.content().isReadable()) {
      to.chunk(new NettyChunk(content.content()));
    } else {
      content.release();
    }
    if (last && interim) {
      interim = false;
    } else if (last && finalHead && receiver == to) {
      Headers trailers = FlatHeaders.of(((LastHttpContent) content).trailingHeaders());
      receiver = null;
      // An answer that came before the whole request was out leaves the connection half-used.
      boolean reusable = decoder.isCleanAfterResponse() && keepAlive && requestWritten && !overdue;
      dropHeld();
      release(reusable);
      to.end(trailers);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (receiver != null) {
      receiver.flush();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (receiver != null && channel.isWritable()) {
      receiver.writable();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (isWriteFailure()) {
      writeFailed = true;
      return;
    }
    fail(ResponseReceiver.Failure.CLOSED);
  }

  /** After a failed write the sending side is shut and the receiving side is still read. */
  private boolean isWriteFailure() {
    return receiver != null
        && channel.isActive()
        && channel instanceof SocketChannel socket
        && socket.isOutputShutdown()
        && !socket.isInputShutdown();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    fail(ResponseReceiver.Failure.CLOSED);
    pool.closed(this);
  }

  private void fail(ResponseReceiver.Failure failure) {
    ResponseReceiver to = receiver;
    receiver = null;
    dropHeld();
    close();
    if (to != null) {
      to.failed(failure);
    }
  }

  private void dropHeld() {
    heldHead = null;
    if (heldChunk != null) {
      heldChunk.release();
      heldChunk = null;
    }
  }

  // ---- time, and the end

  boolean isOverdue() {
    return receiver != null && overdue;
  }

  /** Called at every beat of the pool. */
  void beat(long now) {
    ResponseReceiver to = receiver;
    boolean waitsForClient = paused || (!requestEnded && channel.isWritable());
    if (to == null || waitsForClient) {
      return;
    }
    if (!overdue && now - quietSince > pool.options().responseTimeout().toNanos()) {
      overdue = true;
      quietSince = now;
      to.overdue();
      if (receiver == to && !pool.mayKeepOverdue()) {
        fail(ResponseReceiver.Failure.TIMEOUT);
      }
    } else if (overdue && now - quietSince > pool.options().lateResponse().toNanos()) {
      fail(ResponseReceiver.Failure.TIMEOUT);
    }
  }

  @Override
  public void cancel() {
    receiver = null;
    dropHeld();
    close();
  }

  @Override
  public void giveBack() {
    release(true);
  }

  private void release(boolean reusable) {
    if (reusable && channel.isActive()) {
      if (paused) {
        resumeResponse();
      }
      pool.released(this);
    } else {
      close();
    }
  }

  void close() {
    Transport.close(channel);
  }
}
