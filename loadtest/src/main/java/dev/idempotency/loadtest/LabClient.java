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
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
  private static final int MOST_PAUSE = 600;
  private static final int MOST_PATIENCE = 1_500;
  private static final List<String> SCOPES = List.of("alice", "bob");

  private final Laboratory lab;
  private final HttpClient http;
  private final History history;
  private final String name;
  private final HistoryChecker.Policy policy;
  private final RandomGenerator random;
  private final List<Heard.Operation> mine = new ArrayList<>();
  private final Set<Heard.Operation> acknowledged = new HashSet<>();
  private final boolean isTimed;
  private String latestKey = "";

  /**
   * @param name begins each of its keys
   */
  LabClient(
      Laboratory lab,
      HttpClient http,
      History history,
      String name,
      HistoryChecker.Policy policy,
      long seed) {
    this.lab = lab;
    this.http = http;
    this.history = history;
    this.name = name;
    this.policy = policy;
    this.random = new SplittableRandom(seed);
    this.isTimed = lab.setup().safety() == Safety.GUARD;
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
    Heard.Operation operation = next();
    mine.add(operation);
    CompletableFuture<Answer> first = send(operation, true, false, behaviour());
    boolean done =
        switch (random.nextInt(8)) {
          case 0, 1 -> isAnyDone(send(operation, true, false, ""), first);
          // Who was asked first may be stopped beyond its lease, and go on while others do it.
          case 2, 3, 4 -> isDone(first, random.nextInt(MOST_PATIENCE)) || askOthers(operation);
          default -> isDone(first.join());
        };
    done = done || askOthers(operation);
    if (isDone(first.join()) || done) {
      acknowledged.add(operation);
    }
  }

  /** Waits for both. */
  private static boolean isAnyDone(CompletableFuture<Answer> one, CompletableFuture<Answer> two) {
    boolean done = isDone(one.join());
    return isDone(two.join()) || done;
  }

  /** Two operations have one key and differ in their scope, unless the upstream knows no scopes. */
  private Heard.Operation next() {
    String scope = SCOPES.get(mine.size() % 2);
    if (mine.size() % 2 == 0 || !lab.setup().orders().isEmpty()) {
      latestKey = isTimed ? timedKey() : name + '-' + mine.size();
    }
    return new Heard.Operation(scope, latestKey);
  }

  /** A UUID of version 7. */
  private String timedKey() {
    long high = System.currentTimeMillis() << 16 | 0x7000 | random.nextInt(0x1000);
    return new UUID(high, random.nextLong() >>> 2 | Long.MIN_VALUE).toString();
  }

  private boolean askOthers(Heard.Operation operation) {
    boolean done = false;
    for (int i = 0; !done && i < MOST_RETRIES; i++) {
      pause(random.nextInt(MOST_PAUSE));
      done = isDone(send(operation, true, false, "").join());
    }
    return done;
  }

  /** Waits so long; says whether it is done by then. */
  private static boolean isDone(CompletableFuture<Answer> answer, long millis) {
    try {
      return isDone(answer.get(millis, TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  private String behaviour() {
    return switch (random.nextInt(20)) {
      case 0 -> "drop=after";
      case 1 -> "drop=before";
      // Released: the next attempt has the first number again.
      case 2 -> policy == HistoryChecker.Policy.HOLD ? "fail=before" : "";
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

  private boolean isPassing(Answer answer) {
    if (!(answer instanceof Answer.Response response)) {
      return true;
    }
    return switch (response.problem() == null ? "" : response.problem()) {
      case "request-in-flight" -> true;
      case "outcome-unknown" -> response.status() >= 500 || policy == HistoryChecker.Policy.PROBE;
      case "store-recovering" -> !isTimed;
      default -> response.status() >= 500;
    };
  }

  private CompletableFuture<Answer> send(
      Heard.Operation operation, boolean original, boolean last, String behaviour) {
    int port = lab.port(random.nextInt(Setup.GATEWAYS));
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
