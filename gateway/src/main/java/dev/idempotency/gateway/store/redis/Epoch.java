package dev.idempotency.gateway.store.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * When a server may have forgotten records last: a marker in it keeps the server's run id and since
 * when it is that. All gateways see the same marker, so all of them know the same.
 *
 * <p>Threading: asks on the event loop; the answer may be read from any thread.
 */
final class Epoch {

  private final Questions questions;
  private volatile boolean known;
  private volatile long lostAt;

  Epoch(Questions questions) {
    this.questions = questions;
  }

  /** For how many milliseconds surely nothing was forgotten; without an end where nobody asked. */
  long sinceLoss() {
    return known ? Math.max(0, (System.nanoTime() - lostAt) / 1_000_000) : Long.MAX_VALUE;
  }

  /**
   * Asks the server, before commands are sent to it.
   *
   * @return ends when it has answered, or fails with what it said
   */
  CompletionStage<Void> ask(StatefulRedisConnection<byte[], byte[]> over, byte[] marker) {
    return questions
        .ask(over, CommandType.INFO, "server")
        .handle(Epoch::runId)
        .thenCompose(id -> questions.ask(over, CommandType.EVAL, script(), "1", text(marker), id))
        .thenAccept(this::learn);
  }

  /** Nobody can say: as if it were now. */
  void unknown() {
    learn(List.of(0L));
  }

  private void learn(List<Object> reply) {
    long age = !reply.isEmpty() && reply.get(0) instanceof Long millis ? millis : 0;
    long at = System.nanoTime() - age * 1_000_000;
    // What was lost on the server before this one is lost all the same.
    if (!known || at - lostAt > 0) {
      lostAt = at;
    }
    known = true;
  }

  private static String script() {
    return new String(Script.EPOCH.text(), StandardCharsets.UTF_8);
  }

  private static String text(byte[] name) {
    return new String(name, StandardCharsets.UTF_8);
  }

  /** Empty where the server may not be asked. */
  private static String runId(@Nullable List<Object> reply, @Nullable Throwable failure) {
    if (failure instanceof RedisCommandExecutionException || reply == null) {
      return "";
    }
    return ServerFacts.field(String.join("\n", Questions.texts(reply)), "run_id");
  }
}
