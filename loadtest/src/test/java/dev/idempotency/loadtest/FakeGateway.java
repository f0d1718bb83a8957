package dev.idempotency.loadtest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** Gateway and upstream in one, right or wrong in one chosen way. */
final class FakeGateway implements AutoCloseable {

  /** What it does wrong. */
  enum Fault {
    NONE,
    FORGETS_KEYS,
    EXECUTES_TWICE,
    LOSES_EFFECTS,
    REPLAYS_WITHOUT_A_MARK,
    REPLAYS_ANOTHER_BODY,
    IGNORES_MISMATCHES,
    FAILS_AT_TIMES
  }

  private record Done(String request, String body) {}

  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(8);
  private final Fault fault;
  private final Map<String, Done> done = new HashMap<>();
  private final Set<String> inFlight = new HashSet<>();
  private final Map<String, Integer> effects = new HashMap<>();
  private int count;

  FakeGateway(Fault fault) throws IOException {
    this.fault = fault;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    server.createContext("/orders", this::order);
    server.createContext(
        "/ledger", exchange -> answer(exchange, 200, "application/json", ledger()));
    server.setExecutor(threads);
    server.start();
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  private void order(HttpExchange exchange) throws IOException {
    String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
    String request = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    Done before = reserve(key, request);
    if (before == null) {
      execute(exchange, key, request);
    } else if (before.body().isEmpty()) {
      exchange.getResponseHeaders().set("Retry-After", "1");
      problem(exchange, 409, "request-in-flight");
    } else if (!before.request().equals(request) && fault != Fault.IGNORES_MISMATCHES) {
      problem(exchange, 422, "key-reused");
    } else {
      if (fault != Fault.REPLAYS_WITHOUT_A_MARK) {
        exchange.getResponseHeaders().set("Idempotent-Replayed", "true");
      }
      String more = fault == Fault.REPLAYS_ANOTHER_BODY ? " " : "";
      answer(exchange, 201, "application/json", before.body() + more);
    }
  }

  /** What is there already, with an empty body for a request in flight; null for nothing. */
  private synchronized @Nullable Done reserve(String key, String request) {
    Done before = done.get(key);
    if (before != null) {
      return before;
    }
    return inFlight.add(key) ? null : new Done(request, "");
  }

  private void execute(HttpExchange exchange, String key, String request) throws IOException {
    if (fault == Fault.FAILS_AT_TIMES && fails(key)) {
      problem(exchange, 504, "outcome-unknown");
      return;
    }
    String body;
    synchronized (this) {
      int times = fault == Fault.EXECUTES_TWICE ? 2 : fault == Fault.LOSES_EFFECTS ? 0 : 1;
      effects.merge(key, times, Integer::sum);
      body = "{\"id\":" + ++count + "}";
    }
    synchronized (this) {
      if (fault != Fault.FORGETS_KEYS) {
        done.put(key, new Done(request, body));
      }
      inFlight.remove(key);
    }
    answer(exchange, 201, "application/json", body);
  }

  private synchronized boolean fails(String key) {
    inFlight.remove(key);
    return ++count % 5 == 0;
  }

  private synchronized String ledger() {
    StringBuilder json =
        new StringBuilder("{\"more\":[{}],\"untracked\":{\"effects\":0},\"keys\":{");
    json.append("\"of another run\":{\"effects\":9,\"attempts\":9}");
    effects.forEach(
        (key, n) -> json.append(",\"" + key + "\":{\"effects\":" + n + ",\"attempts\":" + n + "}"));
    return json.append("}}").toString();
  }

  private static void problem(HttpExchange exchange, int status, String type) throws IOException {
    answer(
        exchange,
        status,
        "application/problem+json",
        "{\"title\":\"no\",\"type\":\"/somewhere#" + type + "\"}");
  }

  private static void answer(HttpExchange exchange, int status, String mediaType, String text)
      throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", mediaType);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
