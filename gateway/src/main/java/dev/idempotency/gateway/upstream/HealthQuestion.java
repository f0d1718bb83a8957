package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.ResponseReceiver;
import dev.idempotency.gateway.exchange.UpstreamConnection;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.ResponseHead;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One health check: a connection of its own, made and used as those for requests are, a GET, and
 * the status of its answer. It takes no place from requests.
 *
 * <p>Threading: one event loop.
 */
final class HealthQuestion implements Connector.Outcome, ResponseReceiver, LinkOwner {

  /** Hears once whether the answer was good. */
  interface Asker {
    void answered(boolean good);
  }

  private final UpstreamOptions options;
  private final String authority;
  private final HealthCheck rule;
  private final EventLoop loop;
  private final Asker asker;
  private @Nullable Future<?> limit;
  private @Nullable Link link;
  private boolean answered;

  HealthQuestion(
      UpstreamOptions options, String authority, HealthCheck rule, EventLoop loop, Asker asker) {
    this.options = options;
    this.authority = authority;
    this.rule = rule;
    this.loop = loop;
    this.asker = asker;
  }

  void ask(Connector connector, InetSocketAddress to, UpstreamOptions.Address named) {
    limit = loop.schedule(() -> answer(false), rule.timeout().toNanos(), TimeUnit.NANOSECONDS);
    connector.connect(to, named, this, this);
  }

  @Override
  public void ready(Link made) {
    link = made;
    UpstreamConnection connection = answered ? null : made.take();
    if (connection == null) {
      made.close();
      answer(false);
      return;
    }
    Headers headers = Headers.of("Host", authority, "User-Agent", "idempotency-gateway");
    if (!connection.send(RequestHead.of("GET", rule.path(), headers), new byte[0], this)) {
      answer(false);
    }
  }

  private void answer(boolean good) {
    if (answered) {
      return;
    }
    answered = true;
    if (limit != null) {
      limit.cancel(false);
    }
    if (link != null) {
      link.close();
    }
    asker.answered(good);
  }

  @Override
  public void failed(Throwable cause) {
    answer(false);
  }

  // ---- the response

  @Override
  public void head(ResponseHead head, long contentLength) {
    answer(head.status() >= 200 && head.status() < 400);
  }

  @Override
  public void chunk(Chunk chunk) {
    chunk.release();
  }

  @Override
  public void failed(Failure failure) {
    answer(false);
  }

  @Override
  public void informational(ResponseHead head) {}

  @Override
  public void end(Headers trailers) {}

  @Override
  public void flush() {}

  @Override
  public void writable() {}

  @Override
  public void overdue() {}

  // ---- the link

  @Override
  public UpstreamOptions options() {
    return options;
  }

  @Override
  public String authority() {
    return authority;
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public boolean mayKeepOverdue() {
    return false;
  }

  @Override
  public void released(Link done) {
    done.close();
  }

  @Override
  public void closed(Link gone) {
    answer(false);
  }

  @Override
  public void failed(Link broken) {}

  @Override
  public void succeeded(Link done) {}
}
