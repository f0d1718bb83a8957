package dev.idempotency.gateway.store.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks a server about itself and others; on the event loop. Such questions change nothing, and no
 * operation waits for the single one.
 */
final class Questions {

  private final EventLoop loop;
  private final long millis;

  /**
   * Questions that end on that loop.
   *
   * @param patience how long an answer may take
   */
  Questions(EventLoop loop, Duration patience) {
    this.loop = loop;
    this.millis = patience.toMillis();
  }

  /** The reply, an array or a map: a list of numbers, bytes and lists. Ends in time. */
  CompletableFuture<List<Object>> ask(
      StatefulRedisConnection<byte[], byte[]> connection, ProtocolKeyword word, String... words) {
    CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE);
    for (String argument : words) {
      arguments.add(argument);
    }
    AsyncCommand<byte[], byte[], List<Object>> question =
        new AsyncCommand<>(
            new Command<>(word, new ArrayOutput<>(ByteArrayCodec.INSTANCE), arguments));
    ScheduledFuture<?> limit =
        loop.schedule(
            () -> question.completeExceptionally(new TimeoutException("no answer")),
            millis,
            TimeUnit.MILLISECONDS);
    connection.dispatch(question);
    CompletableFuture<List<Object>> answer = question.toCompletableFuture();
    return answer
        .whenComplete((reply, failure) -> limit.cancel(false))
        .thenCompose(Questions::failedOrNot);
  }

  /** An error as the whole reply comes as its only part. */
  private static CompletableFuture<List<Object>> failedOrNot(List<Object> reply) {
    return reply.size() == 1 && reply.get(0) instanceof RedisException error
        ? CompletableFuture.failedFuture(error)
        : CompletableFuture.completedFuture(reply);
  }

  /** All texts in a reply, in their order. */
  static List<String> texts(List<Object> reply) {
    List<String> texts = new ArrayList<>();
    for (Object part : reply) {
      if (part instanceof List<?> parts) {
        texts.addAll(texts(new ArrayList<>(parts)));
      } else {
        texts.add(text(part));
      }
    }
    return texts;
  }

  /** Text in a reply. */
  static String text(Object part) {
    return part instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : "";
  }
}
