package dev.idempotency.gateway.operations;

import io.netty.handler.codec.http.FullHttpRequest;
import java.util.Set;
import java.util.function.Function;

/**
 * One thing that the admin listener offers.
 *
 * @param methods that it takes
 * @param about in one line, for the list at {@code /}
 * @param slow whether it takes more than some milliseconds and is therefore kept off the event loop
 * @param answer must not keep the request
 */
record Endpoint(
    String path,
    Set<String> methods,
    String about,
    boolean slow,
    Function<FullHttpRequest, AdminResponse> answer) {

  private static final Set<String> READING = Set.of("GET", "HEAD");

  /** An endpoint that is only read. */
  static Endpoint read(String path, String about, Function<FullHttpRequest, AdminResponse> answer) {
    return new Endpoint(path, READING, about, false, answer);
  }

  Endpoint offLoop() {
    return new Endpoint(path, methods, about, true, answer);
  }
}
