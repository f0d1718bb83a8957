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
import dev.idempotency.gateway.transport.OnePieceRequestEncoder;
import dev.idempotency.gateway.transport.TlsChannels;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Promise;
import org.jspecify.annotations.Nullable;

/** One HTTP/1.1 connection to an upstream. */
final class Http1Connection extends ChannelInboundHandlerAdapter
    implements UpstreamConnection, Link {

  /** Nobody sends more of them in earnest; they must not keep an exchange alive for ever. */
  private static final int MOST_INTERIMS = 100;

  private final LinkOwner owner;
  private final ResponseDecoder decoder;
  private final Channel channel;
  private final RequestWriter request;

  private @Nullable ResponseReceiver receiver;
  private boolean finalHead;
  private boolean interim;
  private int interims;
  private boolean keepAlive;
  private boolean closeDelimited;
  private boolean overdue;
  private boolean upgrading;
  private long quietSince;
  private boolean paused;
  private boolean taken;
  private boolean retired;

  Http1Connection(LinkOwner owner, ResponseDecoder decoder, Channel channel) {
    this.owner = owner;
    this.decoder = decoder;
    this.channel = channel;
    this.request = new RequestWriter(owner, channel, this::progress);
  }

  /** A {@link LinkFactory}: without TLS a connected channel is ready. */
  static void prepare(
      Channel channel, UpstreamOptions.Address address, LinkOwner owner, Promise<Link> ready) {
    ResponseDecoder decoder = new ResponseDecoder();
    Http1Connection connection = new Http1Connection(owner, decoder, channel);
    channel.pipeline().addLast(decoder, new OnePieceRequestEncoder(), connection);
    ready.setSuccess(connection);
  }

  // ---- the link

  @Override
  public @Nullable UpstreamConnection take() {
    if (isFull()) {
      return null;
    }
    if (!Transport.isQuietAndOpen(channel)) {
      close();
      return null;
    }
    taken = true;
    return this;
  }

  @Override
  public int exchanges() {
    return taken ? 1 : 0;
  }

  @Override
  public boolean isFull() {
    return taken || retired;
  }

  @Override
  public void retire() {
    retired = true;
    if (!taken) {
      close();
    }
  }

  // ---- the request

  @Override
  public boolean send(RequestHead head, byte[] body, ResponseReceiver to) {
    if (!start(head, body.length, to)) {
      return false;
    }
    if (body.length > 0) {
      request.write(Unpooled.wrappedBuffer(body));
    }
    request.end();
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
    finalHead = false;
    closeDelimited = false;
    interim = false;
    interims = 0;
    overdue = false;
    upgrading = false;
    progress();
    decoder.expect(head.method().equals("HEAD"));
    request.begin(head, contentLength);
    return true;
  }

  @Override
  public void write(Chunk chunk) {
    request.write(NettyChunk.bufferOf(chunk));
  }

  @Override
  public void end() {
    request.end();
  }

  @Override
  public void flush() {
    request.flush();
  }

  @Override
  public boolean isWritable() {
    return channel.isWritable();
  }

  private void progress() {
    quietSince = owner.nanoTime();
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
      progress();
      channel.config().setAutoRead(true);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    progress();
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
      owner.succeeded(this);
      Tunnel tunnel = ChannelTunnel.takeOver(channel, () -> owner.closed(this));
      to.upgraded(head, tunnel);
    } else if (!decoder.isUnderstood() || (interim && ++interims > MOST_INTERIMS)) {
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
    if (last && closeDelimited && (request.hasFailed() || TlsChannels.isCutOff(channel))) {
      // A failed write took the reset from the socket, and anybody can end a TCP connection: what
      // then looks like the end is none.
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
      boolean reusable =
          decoder.isCleanAfterResponse() && keepAlive && request.isWritten() && !overdue;
      request.drop();
      if (!overdue) {
        owner.succeeded(this);
      }
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
      request.failed();
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
    owner.closed(this);
  }

  private void fail(ResponseReceiver.Failure failure) {
    ResponseReceiver to = receiver;
    receiver = null;
    request.drop();
    close();
    if (to != null) {
      if (!overdue) {
        owner.failed(this);
      }
      to.failed(failure);
    }
  }

  // ---- time, and the end

  @Override
  public boolean isOverdue() {
    return receiver != null && overdue;
  }

  /** Called at every beat of the owner. */
  @Override
  public void beat(long now) {
    ResponseReceiver to = receiver;
    boolean waitsForClient = paused || (!request.isEnded() && channel.isWritable());
    if (to == null || waitsForClient) {
      return;
    }
    if (!overdue && now - quietSince > owner.options().responseTimeout().toNanos()) {
      overdue = true;
      quietSince = now;
      owner.failed(this);
      to.overdue();
      if (receiver == to && !owner.mayKeepOverdue()) {
        fail(ResponseReceiver.Failure.TIMEOUT);
      }
    } else if (overdue && now - quietSince > owner.options().lateResponse().toNanos()) {
      fail(ResponseReceiver.Failure.TIMEOUT);
    }
  }

  @Override
  public void cancel() {
    receiver = null;
    request.drop();
    close();
  }

  @Override
  public void giveBack() {
    release(true);
  }

  private void release(boolean reusable) {
    if (reusable && TlsChannels.isTls(channel)) {
      // Not within an event of this channel: what the TLS handler has read behind the response is
      // not decrypted yet, and would come to whoever is next.
      channel.eventLoop().execute(this::rest);
    } else if (reusable) {
      rest();
    } else {
      close();
    }
  }

  private void rest() {
    if (retired || !channel.isActive()) {
      close();
      return;
    }
    if (paused) {
      resumeResponse();
    }
    taken = false;
    owner.released(this);
  }

  @Override
  public void close() {
    Transport.close(channel);
  }
}
