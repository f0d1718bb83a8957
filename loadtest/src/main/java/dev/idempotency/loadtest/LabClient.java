package dev.idempotency.loadtest;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * A client that does what careful clients do: it sends an order, and where it has no answer it
 * sends the same again, to any gateway, sometimes to two at once. What it asks of the upstream (to
 * be slow, to drop the connection after or before the effect) is not part of the request.
 *
 * <p>Threading: confined to one thread, which it blocks.
 */
final class LabClient {

  private static final Duration TIMEOUT = Duration.ofSeconds(6);
  private static final int MOST_RETRIES = 4;
  private static final List<String> SCOPES = List.of("alice", "bob");

  private final Laboratory lab;
  private final HttpClient http;
  private final History history;
  private final String name;
  private final boolean misleading;
  private final RandomGenerator random;
  private final List<Heard.Operation> mine = new ArrayList<>();
  private final Set<Heard.Operation> acknowledged = new HashSet<>();

  /**
   * @param name begins each of its keys
   * @param misleading whether the upstream is asked to release operations, too, whose next attempt
   *     has the first number again
   */
  LabClient(
      Laboratory lab,
      HttpClient http,
      History history,
      String name,
      boolean misleading,
      long seed) {
    this.lab = lab;
    this.http = http;
    this.history = history;
    this.name = name;
    this.misleading = misleading;
    this.random = new SplittableRandom(seed);
  }

  /** Sends one operation after the other. */
  void run(long untilNanos) {
    while (System.nanoTime() - untilNanos < 0 && !Thread.currentThread().isInterrupted()) {
      if (!mine.isEmpty() && random.nextInt(5) == 0) {
        Heard.Operation old = mine.get(random.nextInt(mine.size()));
        // Where nothing was reserved another request may take the key by right.
        boolean original = random.nextInt(3) != 0 || !acknowledged.contains(old);
        send(old, original, false, "").join();
      } else {
        begin();
      }
      // Processes that are started again need the machine, too.
      pause(random.nextInt(100));
    }
  }

  private void begin() {
    String key = name + '-' + mine.size() / 2;
    // Two operations have one key and differ in their scope.
    Heard.Operation operation = new Heard.Operation(SCOPES.get(mine.size() % 2), key);
    mine.add(operation);
    CompletableFuture<Answer> first = send(operation, true, false, behaviour());
    CompletableFuture<Answer> second =
        random.nextInt(4) == 0
            ? send(operation, true, false, "")
            : CompletableFuture.completedFuture(new Answer.None("not sent"));
    boolean done = isDone(first.join()) | isDone(second.join());
    for (int i = 0; !done && i < MOST_RETRIES; i++) {
      pause(random.nextInt(300));
      done = isDone(send(operation, true, false, "").join());
    }
    if (done) {
      acknowledged.add(operation);
    }
  }

  private String behaviour() {
    return switch (random.nextInt(20)) {
      case 0 -> "drop=after";
      case 1 -> "drop=before";
      case 2 -> misleading ? "fail=before" : "";
      case 3 -> "delay=2s";
      case 4, 5, 6 -> "delay=400ms";
      case 7, 8, 9, 10 -> "delay=40ms";
      default -> "";
    };
  }

  private static boolean isDone(Answer answer) {
    return answer instanceof Answer.Response response && response.isSuccess();
  }

  /**
   * After the last fault: asks for each operation until it is told something final, for as long as
   * a lease and what follows it may take.
   */
  void settle(Duration most) {
    for (Heard.Operation operation : mine) {
      long until = System.nanoTime() + most.toNanos();
      Answer answer = send(operation, true, false, "").join();
      while (isPassing(answer) && System.nanoTime() - until < 0) {
        pause(100);
        answer = send(operation, true, false, "").join();
      }
      history.add(
          new Heard(
              operation.scope(),
              operation.key(),
              true,
              true,
              history.now(),
              history.now(),
              false,
              answer));
    }
  }

  private static boolean isPassing(Answer answer) {
    return !(answer instanceof Answer.Response response)
        || response.status() >= 500
        || "request-in-flight".equals(response.problem());
  }

  private CompletableFuture<Answer> send(
      Heard.Operation operation, boolean original, boolean last, String behaviour) {
    int port = lab.port(random.nextInt(Laboratory.GATEWAYS));
    String quantity = original ? "1" : "2";
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/orders"))
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + operation.scope())
            .header("Idempotency-Key", operation.key())
            .POST(BodyPublishers.ofString("{\"item\":\"book\",\"quantity\":" + quantity + "}"));
    if (!behaviour.isEmpty()) {
      request.header("Demo-Behaviour", behaviour);
    }
    long sentAt = history.now();
    return http.sendAsync(request.build(), BodyHandlers.ofByteArray())
        .handle(
            (response, failure) -> {
              Answer answer = failure == null ? Target.answer(response) : Target.none(failure);
              history.add(
                  new Heard(
                      operation.scope(),
                      operation.key(),
                      original,
                      last,
                      sentAt,
                      history.now(),
                      failure == null && isBypassed(response),
                      answer));
              return answer;
            });
  }

  private static boolean isBypassed(HttpResponse<byte[]> response) {
    return response.headers().firstValue("Idempotency-Bypassed").isPresent();
  }

  private static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
