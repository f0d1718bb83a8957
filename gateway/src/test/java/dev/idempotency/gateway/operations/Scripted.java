package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.ExchangeListener.Summary;
import dev.idempotency.gateway.exchange.Result;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;

/** Exchanges that end as they are told. */
final class Scripted {

  private static final long MILLI = 1_000_000;

  private Scripted() {}

  static RequestHead head(String target) {
    Headers headers =
        Headers.of("Idempotency-Key", "key-of-the-client", "Authorization", "Bearer of-the-client");
    return RequestHead.of("POST", target, headers);
  }

  /** 4 ms in all; where it was forwarded 3 ms upstream and 1 ms for the store. */
  static Summary summary(String route, Result result, int status) {
    long attempt = result == Result.COMPLETED ? 1 : 0;
    return new Summary(
        route, result, status, attempt, false, 4 * MILLI, attempt * 3 * MILLI, attempt * MILLI);
  }

  static void exchange(ExchangeListener listener, String route, Result result, int status) {
    listener.opened();
    listener.closed(head("/orders/42?card=4111"), summary(route, result, status));
  }
}
