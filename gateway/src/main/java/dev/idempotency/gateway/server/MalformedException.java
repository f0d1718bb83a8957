package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Problems;
import dev.idempotency.gateway.http.Response;

/** Bytes that are not HTTP/1 as it is read here; caught where they are decoded. */
final class MalformedException extends Exception {

  private final transient Response answer;

  MalformedException(Response answer) {
    super(null, null, false, false);
    this.answer = answer;
  }

  /** 400 with that detail. */
  static MalformedException of(String detail) {
    return new MalformedException(Problems.badRequest(detail).toResponse());
  }

  Response answer() {
    return answer;
  }
}
