package dev.idempotency.gateway.demo;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.concurrent.Future;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Answers the requests of one connection, one after the other: pipelined ones wait until the one
 * before has its answer, so that a delayed answer keeps its place (RFC 9112 §9.3.2).
 *
 * <p>Threading: confined to the event loop of its connection.
 */
final class OrderHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

  private static final int LISTED_ORDERS = 100;
  private static final int MOST_WAITING = 16;
  private static final String ORDERS = "/orders";
  private static final String BY_KEY = "/orders/by-key/";
  private static final String LEDGER = "/ledger";

  private final Ledger ledger;
  private final OrderBook orders;
  private final @Nullable OrderTable table;
  private final Queue<FullHttpRequest> waiting = new ArrayDeque<>();
  private boolean busy;

  OrderHandler(Ledger ledger, OrderBook orders, @Nullable OrderTable table) {
    this.ledger = ledger;
    this.orders = orders;
    this.table = table;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
    if (!busy) {
      busy = true;
      handle(ctx, request);
      return;
    }
    waiting.add(request.retain());
    if (waiting.size() == MOST_WAITING) {
      ctx.channel().config().setAutoRead(false);
    }
  }

  private void next(ChannelHandlerContext ctx) {
    FullHttpRequest request = waiting.poll();
    if (request == null) {
      busy = false;
      ctx.channel().config().setAutoRead(true);
      return;
    }
    try {
      handle(ctx, request);
    } finally {
      request.release();
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    waiting.forEach(FullHttpRequest::release);
    waiting.clear();
  }

  private void handle(ChannelHandlerContext ctx, FullHttpRequest request) {
    String path = new QueryStringDecoder(request.uri()).path();
    if (!request.decoderResult().isSuccess()) {
      answer(ctx, Answers.error(400, "this is no HTTP request"));
    } else if (path.equals(ORDERS) && request.method().equals(HttpMethod.POST)) {
      create(ctx, request);
    } else if (path.equals(LEDGER) && request.method().equals(HttpMethod.DELETE)) {
      ledger.reset();
      answer(ctx, Answers.json(204, ""));
    } else if (request.method().equals(HttpMethod.GET)) {
      read(ctx, path, request);
    } else {
      answer(ctx, Answers.error(404, "nothing is here for this method"));
    }
  }

  private void create(ChannelHandlerContext ctx, FullHttpRequest request) {
    HttpHeaders headers = request.headers();
    int received = request.content().readableBytes();
    String key = SentKey.normalised(headers.get("Idempotency-Key"));
    Behaviour behaviour;
    try {
      behaviour = Behaviour.read(request.uri(), headers.get(Behaviour.HEADER));
    } catch (IllegalArgumentException e) {
      answer(ctx, Answers.error(400, String.valueOf(e.getMessage())));
      return;
    }
    int attempt = SentKey.attempt(headers.get("Idempotency-Attempt"));
    ledger.attempt(key, attempt);
    if (received == 0) {
      answer(ctx, Answers.error(400, "an order has a body"));
    } else if (behaviour.delay().isZero()) {
      finish(ctx, key, attempt, received, behaviour);
    } else {
      Future<?> work =
          ctx.executor()
              .schedule(
                  () -> finish(ctx, key, attempt, received, behaviour),
                  behaviour.delay().toNanos(),
                  NANOSECONDS);
      work.addListener(done -> closeOnFailure(ctx, done));
    }
  }

  private void finish(
      ChannelHandlerContext ctx,
      @Nullable String key,
      int attempt,
      int received,
      Behaviour behaviour) {
    if (table != null && key != null && behaviour.hasEffect()) {
      CompletionStage<?> unused =
          table
              .place(key, Math.max(1, attempt), received, behaviour.status())
              .whenCompleteAsync(
                  (answer, failure) -> placed(ctx, key, behaviour, answer, failure),
                  ctx.executor());
      return;
    }
    Order order = behaviour.hasEffect() ? orders.create(key, received) : null;
    finish(
        ctx,
        behaviour,
        order == null
            ? Answers.error(behaviour.status(), "refused, as asked")
            : Answers.created(order, behaviour));
  }

  private void placed(
      ChannelHandlerContext ctx,
      String key,
      Behaviour behaviour,
      OrderTable.@Nullable Answer answer,
      @Nullable Throwable failure) {
    if (failure != null) {
      // Perhaps it was committed: unknown, until somebody asks.
      answer(ctx, Answers.error(503, "the database failed"));
    } else if (answer == null) {
      FullHttpResponse late = Answers.error(409, "this attempt was reported as never happened");
      late.headers().set("Idempotency-Outcome", "released");
      answer(ctx, late);
    } else {
      if (answer.fresh()) {
        long unused = ledger.effect(key, answer.order());
      }
      finish(ctx, behaviour, Answers.stored(answer.status(), answer));
    }
  }

  private void finish(ChannelHandlerContext ctx, Behaviour behaviour, FullHttpResponse usual) {
    if (behaviour.fault().drops()) {
      close(ctx);
      return;
    }
    FullHttpResponse response =
        switch (behaviour.fault()) {
          case FAIL_BEFORE -> unavailable();
          case FAIL_AFTER -> Answers.error(500, "failed after the effect, as asked");
          default -> usual;
        };
    String outcome = behaviour.outcome();
    if (outcome != null) {
      response.headers().set("Idempotency-Outcome", outcome);
    }
    answer(ctx, response);
  }

  private static FullHttpResponse unavailable() {
    FullHttpResponse response = Answers.error(503, "failed before the effect, as asked");
    response.headers().set(HttpHeaderNames.RETRY_AFTER, "1");
    return response;
  }

  private void read(ChannelHandlerContext ctx, String path, FullHttpRequest request) {
    if (path.startsWith(BY_KEY)) {
      ask(ctx, path.substring(BY_KEY.length()), request.headers());
    } else if (path.equals(LEDGER)) {
      List<String> keys =
          new QueryStringDecoder(request.uri()).parameters().getOrDefault("key", List.of());
      if (keys.isEmpty()) {
        answerWithLedger(ctx);
      } else {
        answer(ctx, Answers.json(200, tally(keys.get(0))));
      }
    } else if (path.equals(ORDERS)) {
      answer(ctx, Answers.json(200, list()));
    } else {
      Order order = path.startsWith(ORDERS + '/') ? orders.find(path.substring(8)) : null;
      answer(
          ctx,
          order == null
              ? Answers.error(404, "no such order")
              : Answers.json(200, order.toJson() + '\n'));
    }
  }

  private void ask(ChannelHandlerContext ctx, String key, HttpHeaders headers) {
    if (table == null) {
      // Not 404, which would say that it never happened.
      answer(ctx, Answers.error(501, "orders are not in a database"));
      return;
    }
    CompletionStage<?> unused =
        table
            .ask(key, SentKey.attempt(headers.get("Idempotency-Attempt")))
            .whenCompleteAsync(
                (answer, failure) ->
                    answer(
                        ctx,
                        failure != null
                            ? Answers.error(503, "the database failed")
                            : answer == null
                                ? Answers.error(404, "no order was placed under this key")
                                : Answers.stored(200, answer)),
                ctx.executor());
  }

  private String tally(String key) {
    Tally tally = ledger.of(key);
    return "{\"key\":"
        + Json.quote(key)
        + ",\"effects\":"
        + tally.effects()
        + ",\"attempts\":"
        + tally.attempts()
        + ",\"attempt_numbers\":"
        + tally.numbers()
        + "}\n";
  }

  private String list() {
    return orders.latest(LISTED_ORDERS).stream()
        .map(Order::toJson)
        .collect(Collectors.joining(",\n", "{\"orders\":[", "]}\n"));
  }

  private void answerWithLedger(ChannelHandlerContext ctx) {
    HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    head.headers()
        .set(HttpHeaderNames.CONTENT_TYPE, "application/json")
        .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
    ctx.write(head).addListener(written -> closeOnFailure(ctx, written));
    goOnAfter(ctx, ctx.writeAndFlush(new HttpChunkedInput(new LedgerText(ledger))));
  }

  private void goOn(ChannelHandlerContext ctx) {
    if (waiting.isEmpty()) {
      next(ctx);
    } else {
      // Not at once: a burst of requests would pile up on the stack.
      ctx.executor().execute(() -> next(ctx));
    }
  }

  private void answer(ChannelHandlerContext ctx, FullHttpResponse response) {
    goOnAfter(ctx, ctx.writeAndFlush(response));
  }

  private void goOnAfter(ChannelHandlerContext ctx, ChannelFuture answered) {
    answered.addListener(
        written -> {
          if (written.isSuccess()) {
            goOn(ctx);
          } else {
            close(ctx);
          }
        });
  }

  private static void closeOnFailure(ChannelHandlerContext ctx, Future<?> future) {
    if (!future.isSuccess()) {
      close(ctx);
    }
  }

  /** A connection in trouble is closed without an answer: the caller must live with that. */
  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    close(ctx);
  }

  // Nobody can do anything about a connection that will not close.
  @SuppressWarnings("FutureReturnValueIgnored")
  private static void close(ChannelHandlerContext ctx) {
    ctx.close();
  }
}
