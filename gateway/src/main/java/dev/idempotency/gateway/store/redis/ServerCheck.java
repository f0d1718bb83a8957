package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreFinding;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Looks at one server again and again: whether it is set up so that it keeps what it is told.
 *
 * <p>Threading: asks on the event loop; what was found may be read from any thread.
 */
final class ServerCheck {

  private final String name;
  private final Questions questions;
  private final RedisDemands demands;
  private volatile List<StoreFinding> findings = List.of();
  private volatile long evicted;
  private String runId = "";
  private long seenEvictions;

  ServerCheck(String name, Questions questions, RedisDemands demands) {
    this.name = name;
    this.questions = questions;
    this.demands = demands;
  }

  List<StoreFinding> findings() {
    return findings;
  }

  /** How many keys the server has thrown away since it is watched. */
  long evicted() {
    return evicted;
  }

  /** Asks, and judges when all is there; a server that does not answer leaves what was found. */
  void look(StatefulRedisConnection<byte[], byte[]> over) {
    CompletableFuture<List<Object>> time = questions.ask(over, CommandType.TIME);
    CompletableFuture<@Nullable List<Object>> info = allowed(over, CommandType.INFO);
    CompletableFuture<@Nullable List<Object>> settings =
        allowed(over, CommandType.CONFIG, "GET", "save", "appendfsync", "min-replicas-to-write");
    CompletableFuture<Void> unused =
        CompletableFuture.allOf(time, info, settings)
            .handle(
                (none, failure) -> {
                  if (failure == null) {
                    judge(time.getNow(List.of()), info.getNow(null), settings.getNow(null));
                  }
                  return null;
                });
  }

  /** The answer, or null where the server may not be asked. */
  private CompletableFuture<@Nullable List<Object>> allowed(
      StatefulRedisConnection<byte[], byte[]> over, CommandType command, String... words) {
    return questions
        .ask(over, command, words)
        .handle(
            (reply, failure) -> {
              if (failure == null || isRefusal(failure)) {
                return reply;
              }
              throw new CompletionException(failure);
            });
  }

  private static boolean isRefusal(Throwable failure) {
    return failure instanceof RedisCommandExecutionException
        || failure.getCause() instanceof RedisCommandExecutionException;
  }

  private void judge(
      List<Object> time, @Nullable List<Object> info, @Nullable List<Object> settings) {
    ServerFacts facts =
        new ServerFacts(
            info == null ? null : String.join("\n", Questions.texts(info)),
            settings == null ? null : pairs(Questions.texts(settings)),
            millis(time) - System.currentTimeMillis());
    count(facts);
    findings = ServerVerdict.on(name, facts, demands, evicted);
  }

  /** What was thrown away before the first look is not news; another server counts anew. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written on the event loop only
  private void count(ServerFacts facts) {
    long now = facts.number("evicted_keys");
    String id = facts.field("run_id");
    if (id.equals(runId) && now > seenEvictions) {
      evicted += now - seenEvictions;
    }
    runId = id;
    seenEvictions = now;
  }

  private static Map<String, String> pairs(List<String> texts) {
    Map<String, String> pairs = new HashMap<>();
    for (int i = 0; i + 1 < texts.size(); i += 2) {
      pairs.put(texts.get(i), texts.get(i + 1));
    }
    return pairs;
  }

  /** Seconds and microseconds. */
  private static long millis(List<Object> time) {
    List<String> parts = Questions.texts(time);
    try {
      return Long.parseLong(parts.get(0)) * 1000 + Long.parseLong(parts.get(1)) / 1000;
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      return System.currentTimeMillis();
    }
  }
}
