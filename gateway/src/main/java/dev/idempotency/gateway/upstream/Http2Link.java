package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.ResponseReceiver.Failure;
import dev.idempotency.gateway.exchange.UpstreamConnection;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Promise;
import java.nio.channels.ClosedChannelException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/2 connection to an upstream, with a place for each stream that the server allows.
 *
 * <p>It is ready when the server's settings are there: by then the peer has shown that it speaks
 * HTTP/2 and how many streams it takes, and what is found out sooner costs no request.
 */
final class Http2Link implements Link {

  /** More streams than that wait for each other's bytes on one connection. */
  static final int MOST_PLACES = 100;

  private final Channel channel;
  private final LinkOwner owner;
  private final Promise<Link> ready;
  private final Http2Streams streams;
  private final Set<Http2Exchange> taken = new LinkedHashSet<>();
  private boolean retired;
  private boolean served;
  private long heardAt;
  private boolean untold;

  private Http2Link(Channel channel, LinkOwner owner, Promise<Link> ready) {
    this.channel = channel;
    this.owner = owner;
    this.ready = ready;
    this.heardAt = owner.nanoTime();
    this.streams = Http2Streams.of(this);
  }

  /**
   * A {@link LinkFactory}, for a server that is known to speak HTTP/2: as configured (RFC 9113
   * §3.3), or as it was agreed in the TLS handshake.
   */
  static void prepare(
      Channel channel, UpstreamOptions.Address address, LinkOwner owner, Promise<Link> ready) {
    channel.pipeline().addLast(new Http2Link(channel, owner, ready).streams);
  }

  /** The scheme of its requests. */
  String scheme() {
    return owner.options().tls() == null ? "http" : "https";
  }

  @Override
  public @Nullable UpstreamConnection take() {
    if (isFull()) {
      return null;
    }
    if (served && taken.isEmpty() && !streams.isReading()) {
      // It rested. Its end, or the word that it takes nothing more, may wait unread.
      Transport.readNow(channel);
      if (isFull()) {
        return null;
      }
    }
    served = true;
    Http2Exchange exchange = new Http2Exchange(this, streams, owner);
    taken.add(exchange);
    return exchange;
  }

  @Override
  public int exchanges() {
    return taken.size();
  }

  @Override
  public boolean isFull() {
    return retired
        || !channel.isActive()
        || taken.size() >= Math.min(MOST_PLACES, streams.mostStreams());
  }

  @Override
  public boolean isOverdue() {
    return taken.stream().anyMatch(Http2Exchange::isOverdue)
        && taken.stream().noneMatch(exchange -> exchange.isAlive() && !exchange.isOverdue());
  }

  @Override
  public void beat(long now) {
    List.copyOf(taken).forEach(exchange -> exchange.beat(now));
    boolean stuck = !taken.isEmpty() && taken.stream().noneMatch(Http2Exchange::isAlive);
    if (stuck && now - heardAt > owner.options().responseTimeout().toNanos()) {
      // Not even the resets go out.
      close();
    }
  }

  @Override
  public void retire() {
    retired = true;
    checkOver();
  }

  /** A retired link closes as soon as nobody waits for anything that comes on it. */
  void checkOver() {
    if (retired && taken.stream().noneMatch(Http2Exchange::isAlive)) {
      close();
    }
  }

  @Override
  public void close() {
    retired = true;
    Transport.close(channel);
  }

  // ---- what the connection tells

  /** The server's settings came. */
  void settled() {
    ready.trySuccess(this);
  }

  /** Something came, whatever it was. */
  void heard() {
    heardAt = owner.nanoTime();
  }

  /**
   * A response is overdue. Where nothing else came meanwhile either, the connection may be dead,
   * and no further request is put on it.
   *
   * @param quiet for how long nothing was heard of the response, in nanoseconds
   */
  void overdue(long quiet, long now) {
    if (now - heardAt >= quiet) {
      retire();
    }
  }

  /** The place is free. */
  void left(Http2Exchange exchange) {
    if (!taken.remove(exchange)) {
      return;
    }
    checkOver();
    // Later, because the next exchange must not begin in the midst of closing this one's stream.
    if (!untold) {
      untold = true;
      channel.eventLoop().execute(this::tellReleased);
    }
  }

  private void tellReleased() {
    untold = false;
    if (channel.isActive()) {
      owner.released(this);
    }
  }

  /** What is under way gets no answer any more. */
  void lost(Failure failure) {
    retired = true;
    List.copyOf(taken).forEach(exchange -> exchange.lost(failure));
  }

  /** The connection is closed. */
  void closed() {
    lost(Failure.CLOSED);
    ready.tryFailure(new ClosedChannelException());
    owner.closed(this);
  }
}
