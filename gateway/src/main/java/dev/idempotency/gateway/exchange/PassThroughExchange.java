package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.ArrayChunk;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.http.Tunnel;
import java.util.ArrayDeque;
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
  private final @Nullable BodyBuffer firstBytes;
  private @Nullable ArrayDeque<Chunk> early;
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
      @Nullable BodyBuffer firstBytes,
      boolean unprotected,
      Peer peer,
      ClientStream client) {
    this.route = route;
    this.course = course;
    this.contentLength = contentLength;
    this.wholeBody = wholeBody;
    this.firstBytes = firstBytes;
    this.unprotected = unprotected;
    this.peer = peer;
    this.client = client;
  }

  /** Streams a request through. */
  static Exchange open(
      Route route, Course course, long contentLength, Peer peer, ClientStream client) {
    PassThroughExchange exchange =
        new PassThroughExchange(route, course, contentLength, null, null, false, peer, client);
    // With a connection at hand, head and body go out in one piece when the burst of reading ends.
    exchange.opening = true;
    route.upstream().acquire(exchange);
    exchange.opening = false;
    return exchange;
  }

  /** Streams a request through that asks for a WebSocket; a tunnel comes of it if it is granted. */
  static Exchange upgrade(Route route, Course course, Peer peer, ClientStream client) {
    PassThroughExchange exchange =
        new PassThroughExchange(route, course, 0, null, null, false, peer, client);
    exchange.upgrade = true;
    route.upstream().acquire(exchange);
    return exchange;
  }

  /**
   * Forwards a request with a key that the store can't protect.
   *
   * @param body the whole body, released when the exchange ends
   * @param said whether the response says so
   */
  static PassThroughExchange bypass(
      Route route, Course course, BodyBuffer body, boolean said, Peer peer, ClientStream client) {
    return new PassThroughExchange(route, course, body.length(), body, null, said, peer, client);
  }

  /** The same for a request whose body streams and was not asked for yet. */
  static PassThroughExchange bypass(
      Route route,
      Course course,
      long contentLength,
      boolean said,
      Peer peer,
      ClientStream client) {
    return new PassThroughExchange(route, course, contentLength, null, null, said, peer, client);
  }

  /**
   * Forwards a request whose body is on its way and is not gathered any further.
   *
   * @param firstBytes what has come of it, released when the exchange ends
   */
  static PassThroughExchange goOn(
      Route route,
      Course course,
      long contentLength,
      BodyBuffer firstBytes,
      Peer peer,
      ClientStream client) {
    client.pauseBody();
    return new PassThroughExchange(
        route, course, contentLength, null, firstBytes, false, peer, client);
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
      stream(acquired);
    }
  }

  private void stream(UpstreamConnection acquired) {
    writeEarly(acquired);
    if (connection == null) {
      // A write failed at once.
      return;
    }
    if (bodyEnded) {
      // The request was whole before there was a connection.
      acquired.end();
      return;
    }
    if (firstBytes == null) {
      client.wantBody();
    } else if (acquired.isWritable()) {
      client.resumeBody();
    }
    if (!opening) {
      acquired.flush();
    }
  }

  /** What came before there was a connection. */
  private void writeEarly(UpstreamConnection acquired) {
    if (firstBytes != null && firstBytes.length() > 0) {
      byte[] bytes = firstBytes.toByteArray();
      acquired.write(new ArrayChunk(bytes, 0, bytes.length));
    }
    while (early != null && !early.isEmpty() && connection != null) {
      acquired.write(early.remove());
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
      if (firstBytes == null || ended) {
        chunk.release();
      } else {
        // Little: the client's edge was told to stop.
        early = early == null ? new ArrayDeque<>() : early;
        early.add(chunk);
      }
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
    route.answers().expose(sent.headers());
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
    if (firstBytes != null) {
      firstBytes.release();
      client.resumeBody();
    }
    if (early != null) {
      early.forEach(Chunk::release);
      early.clear();
    }
    course.end(result, toldStatus);
  }
}
