package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.http.Tunnel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request without a key: bytes stream both ways under back-pressure, nothing is held and the
 * store is not asked. If the client goes, the exchange with the upstream is given up.
 */
final class PassThroughExchange implements Exchange, Upstream.Acquirer, ResponseReceiver {

  private static final int MOST_TRIES = 3;

  private final Route route;
  private final Course course;
  private final long contentLength;
  private final Peer peer;
  private final @Nullable BodyBuffer wholeBody;
  private final boolean unprotected;
  private ClientStream client;
  private @Nullable UpstreamConnection connection;
  private boolean upgrade;
  private boolean opening;
  private boolean bodyEnded;
  private boolean begun;
  private boolean ended;
  private int status;
  private List<String> nominated = List.of();
  private int tries;

  private PassThroughExchange(
      Route route,
      Course course,
      long contentLength,
      @Nullable BodyBuffer wholeBody,
      boolean unprotected,
      Peer peer,
      ClientStream client) {
    this.route = route;
    this.course = course;
    this.contentLength = contentLength;
    this.wholeBody = wholeBody;
    this.unprotected = unprotected;
    this.peer = peer;
    this.client = client;
  }

  /** Streams a request through. */
  static Exchange open(
      Route route, Course course, long contentLength, Peer peer, ClientStream client) {
    PassThroughExchange exchange =
        new PassThroughExchange(route, course, contentLength, null, false, peer, client);
    // With a connection at hand, head and body go out in one piece when the burst of reading ends.
    exchange.opening = true;
    route.upstream().acquire(exchange);
    exchange.opening = false;
    return exchange;
  }

  /** Streams a request through that asks for a WebSocket; a tunnel comes of it if it is granted. */
  static Exchange upgrade(Route route, Course course, Peer peer, ClientStream client) {
    PassThroughExchange exchange =
        new PassThroughExchange(route, course, 0, null, false, peer, client);
    exchange.upgrade = true;
    route.upstream().acquire(exchange);
    return exchange;
  }

  /**
   * Forwards a request that turned out to have no key.
   *
   * @param body the whole body, released when the exchange ends
   */
  static PassThroughExchange gathered(
      Route route, Course course, BodyBuffer body, Peer peer, ClientStream client) {
    return new PassThroughExchange(route, course, body.length(), body, false, peer, client);
  }

  /**
   * Forwards a request with a key that the store can't protect; the response says so.
   *
   * @param body the whole body, released when the exchange ends
   */
  static PassThroughExchange bypass(
      Route route, Course course, BodyBuffer body, Peer peer, ClientStream client) {
    return new PassThroughExchange(route, course, body.length(), body, true, peer, client);
  }

  /** The same for a request whose body streams. */
  static PassThroughExchange bypass(
      Route route, Course course, long contentLength, Peer peer, ClientStream client) {
    return new PassThroughExchange(route, course, contentLength, null, true, peer, client);
  }

  /** Starts an exchange without protection, as soon as its caller knows of it. */
  void start() {
    route.upstream().acquire(this);
  }

  @Override
  public void acquired(UpstreamConnection acquired) {
    if (ended) {
      acquired.giveBack();
      return;
    }
    connection = acquired;
    course.sent(0);
    if (!send(acquired)) {
      connection = null;
      if (++tries > MOST_TRIES) {
        refused(Upstream.Refusal.UNREACHABLE);
      } else {
        route.upstream().acquire(this);
      }
    } else if (streams()) {
      if (bodyEnded) {
        // A request without content was whole before there was a connection.
        acquired.end();
        return;
      }
      client.wantBody();
      if (!opening) {
        acquired.flush();
      }
    }
  }

  private boolean send(UpstreamConnection acquired) {
    RequestHead head = course.forwarded(peer);
    if (upgrade) {
      return acquired.upgrade(head, this);
    }
    return wholeBody == null
        ? acquired.begin(head, contentLength, this)
        : acquired.send(head, wholeBody.toByteArray(), this);
  }

  @Override
  public void refused(Upstream.Refusal refusal) {
    if (!ended) {
      Response problem = course.render(Problems.unreachable(refusal));
      client.respond(problem);
      finish(Result.NOT_SENT, problem.status());
    }
  }

  @Override
  public void body(Chunk chunk) {
    UpstreamConnection live = connection;
    if (live == null) {
      chunk.release();
      return;
    }
    live.write(chunk);
    if (!live.isWritable()) {
      client.pauseBody();
    }
  }

  @Override
  public void bodyEnd() {
    bodyEnded = true;
    if (connection != null && streams()) {
      connection.end();
    }
  }

  @Override
  public void flush() {
    // Both edges call this when their burst of reading ends; each flushes the other side.
    if (connection != null) {
      connection.flush();
    }
    if (begun) {
      client.flush();
    }
  }

  @Override
  public void writable() {
    client.resumeBody();
  }

  @Override
  public void clientGone() {
    client = ClientStream.GONE;
    if (connection != null) {
      connection.cancel();
      connection = null;
    }
    finish(Result.CLIENT_GONE, status);
  }

  @Override
  public void requestBroken(int status) {
    course.requestBroken(status);
    clientGone();
  }

  @Override
  public boolean isOver() {
    return ended;
  }

  @Override
  public void clientWritable() {
    if (connection != null) {
      connection.resumeResponse();
    }
  }

  @Override
  public void informational(ResponseHead head) {
    if (head.status() != 100) {
      client.informational(ResponseFields.endToEnd(head));
    }
  }

  @Override
  public void head(ResponseHead head, long length) {
    ResponseHead sent = ResponseFields.endToEnd(head);
    if (unprotected) {
      sent.headers().add(ResponseFields.BYPASSED, "true");
    }
    nominated = ResponseFields.nominated(head);
    begun = true;
    status = head.status();
    client.begin(sent, length);
  }

  @Override
  public void chunk(Chunk chunk) {
    client.write(chunk);
    if (!client.isWritable() && connection != null) {
      connection.pauseResponse();
    }
  }

  @Override
  public void end(Headers trailers) {
    connection = null;
    course.received();
    client.end(ResponseFields.trailers(trailers, nominated));
    client.flush();
    finish(unprotected ? Result.BYPASSED : Result.PASSED, status);
  }

  /** Whether the body comes from the client as it goes. */
  private boolean streams() {
    return wholeBody == null && !upgrade;
  }

  @Override
  public void upgraded(ResponseHead head, Tunnel tunnel) {
    connection = null;
    course.received();
    if (!WebSocketUpgrade.isGranted(course.head(), head)) {
      tunnel.close();
      failed(Failure.MALFORMED);
      return;
    }
    Tunnel own = client.upgrade(ResponseFields.endToEnd(head));
    if (own == null) {
      tunnel.close();
      client.respond(course.render(Problems.tooEarly()));
      finish(Result.BAD_REQUEST, 400);
      return;
    }
    status = head.status();
    JoinedTunnels.join(own, tunnel, () -> finish(Result.PASSED, status));
  }

  @Override
  public void overdue() {
    if (connection != null) {
      connection.cancel();
      connection = null;
    }
    failed(Failure.TIMEOUT);
  }

  @Override
  public void failed(Failure failure) {
    connection = null;
    course.received();
    boolean unprocessed = failure == Failure.NOT_PROCESSED;
    if (begun && !client.takeBack()) {
      client.abort();
    } else {
      Response problem =
          course.render(unprocessed ? Problems.notProcessed() : Problems.sentAndLost(failure));
      client.respond(problem);
      status = problem.status();
    }
    finish(unprocessed ? Result.NOT_SENT : Result.UPSTREAM_FAILED, status);
  }

  private void finish(Result result, int toldStatus) {
    ended = true;
    if (wholeBody != null) {
      wholeBody.release();
    }
    course.end(result, toldStatus);
  }
}
