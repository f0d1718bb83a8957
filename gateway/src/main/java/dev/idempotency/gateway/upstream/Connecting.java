package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.Upstream;
import dev.idempotency.gateway.exchange.UpstreamConnection;
import io.netty.channel.ChannelException;
import io.netty.channel.ConnectTimeoutException;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One request's way to a new connection: at one address after the other, each at most once. That is
 * no retry of a request: as long as there is no connection, surely nothing was sent.
 */
final class Connecting implements Connector.Outcome {

  /** What it needs of the upstream. */
  interface Home extends Endpoint.Home {

    Connector connector();

    void connectFailed(Endpoint endpoint);

    /** Where to try next; null: nowhere. */
    @Nullable Endpoint next(List<Endpoint> tried);
  }

  private final Home home;
  private final WaitingLine.Waiting waiting;
  private final List<Endpoint> tried = new ArrayList<>(1);

  Connecting(Home home, WaitingLine.Waiting waiting) {
    this.home = home;
    this.waiting = waiting;
  }

  void start(Endpoint endpoint) {
    tried.add(endpoint);
    endpoint.connecting();
    home.connector().connect(endpoint.address(), endpoint.named(), endpoint, this);
  }

  private Endpoint endpoint() {
    return tried.get(tried.size() - 1);
  }

  @Override
  public void ready(Link link) {
    if (home.isClosed()) {
      endpoint().connectFailed();
      link.close();
      waiting.acquirer().refused(Upstream.Refusal.CLOSED);
      return;
    }
    UpstreamConnection taken = endpoint().connected(link);
    if (taken == null) {
      home.connectFailed(endpoint());
      goOn(Upstream.Refusal.UNREACHABLE);
      return;
    }
    waiting.acquirer().acquired(taken);
    // A connection may have places for others.
    home.roomLeft();
  }

  @Override
  public void failed(Throwable cause) {
    endpoint().connectFailed();
    if (cause instanceof ChannelException) {
      // There is no socket to connect with: that is not the address's fault, nor the next one's.
      refuse(Upstream.Refusal.UNREACHABLE);
      return;
    }
    home.connectFailed(endpoint());
    goOn(refusalOf(cause));
  }

  private static Upstream.Refusal refusalOf(Throwable cause) {
    if (cause instanceof ConnectTimeoutException) {
      return Upstream.Refusal.CONNECT_TIMEOUT;
    }
    return cause instanceof SSLException
        ? Upstream.Refusal.TLS_FAILED
        : Upstream.Refusal.UNREACHABLE;
  }

  private void goOn(Upstream.Refusal refusal) {
    Endpoint next = home.isClosed() || isLate() ? null : home.next(tried);
    if (next == null) {
      refuse(home.isClosed() ? Upstream.Refusal.CLOSED : refusal);
      return;
    }
    UpstreamConnection warm = next.take(home.nanoTime());
    if (warm == null) {
      start(next);
    } else {
      waiting.acquirer().acquired(warm);
      home.roomLeft();
    }
  }

  private boolean isLate() {
    return home.nanoTime() - waiting.until() >= 0;
  }

  private void refuse(Upstream.Refusal refusal) {
    // Those who wait first: the refused caller may come again at once.
    home.roomLeft();
    waiting.acquirer().refused(refusal);
  }
}
