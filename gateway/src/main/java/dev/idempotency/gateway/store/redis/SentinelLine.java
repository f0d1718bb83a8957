package dev.idempotency.gateway.store.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A connection to one sentinel, made when it is asked something; on the event loop. */
final class SentinelLine {

  /** What a sentinel says of the primary; of several the one with the largest epoch holds. */
  record Answer(Endpoint primary, long epoch) {}

  /** The word, which the client knows only for connections of another kind. */
  private enum Word implements ProtocolKeyword {
    SENTINEL;

    @Override
    public byte[] getBytes() {
      return toString().getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String toString() {
      return "SENTINEL";
    }
  }

  private final EventLoop loop;
  private final LoopClient client;
  private final Questions questions;
  private final Endpoint sentinel;
  private final String primaryName;
  private @Nullable StatefulRedisConnection<byte[], byte[]> connection;
  private boolean busy;

  SentinelLine(
      EventLoop loop,
      LoopClient client,
      Questions questions,
      Endpoint sentinel,
      String primaryName) {
    this.loop = loop;
    this.client = client;
    this.questions = questions;
    this.sentinel = sentinel;
    this.primaryName = primaryName;
  }

  Endpoint sentinel() {
    return sentinel;
  }

  /** Which server it takes for the primary; fails where it does not answer or does not know. */
  CompletableFuture<Answer> ask() {
    if (busy) {
      return CompletableFuture.failedFuture(new IllegalStateException("slow to answer"));
    }
    busy = true;
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    if (connection != null && connection.isOpen()) {
      askOver(connection, answer);
      return answer;
    }
    CompletableFuture<Void> unused =
        client
            .connectToSentinel(sentinel)
            .toCompletableFuture()
            .handle(
                (fresh, failure) -> {
                  onLoop(() -> connected(fresh, failure, answer));
                  return null;
                });
    return answer;
  }

  private void onLoop(Runnable work) {
    if (loop.inEventLoop()) {
      work.run();
    } else {
      loop.execute(work);
    }
  }

  private void connected(
      @Nullable StatefulRedisConnection<byte[], byte[]> fresh,
      @Nullable Throwable failure,
      CompletableFuture<Answer> answer) {
    if (fresh == null) {
      end(answer, null, failure);
    } else {
      connection = fresh;
      askOver(fresh, answer);
    }
  }

  private void askOver(
      StatefulRedisConnection<byte[], byte[]> over, CompletableFuture<Answer> answer) {
    CompletableFuture<Void> unused =
        questions
            .ask(over, Word.SENTINEL, "MASTER", primaryName)
            .handle(
                (reply, failure) -> {
                  onLoop(() -> replied(over, reply, failure, answer));
                  return null;
                });
  }

  private void replied(
      StatefulRedisConnection<byte[], byte[]> over,
      @Nullable List<Object> reply,
      @Nullable Throwable failure,
      CompletableFuture<Answer> answer) {
    try {
      if (reply != null) {
        end(answer, read(reply), null);
        return;
      }
      end(answer, null, failure);
    } catch (IllegalArgumentException e) {
      end(answer, null, e);
    }
    // Whatever it was, the next question is asked over a new one.
    connection = null;
    CompletableFuture<Void> unused = over.closeAsync();
  }

  private void end(
      CompletableFuture<Answer> answer, @Nullable Answer result, @Nullable Throwable failure) {
    busy = false;
    if (result != null) {
      answer.complete(result);
    } else {
      answer.completeExceptionally(
          failure == null ? new IllegalStateException("no connection") : failure);
    }
  }

  private static Answer read(List<Object> reply) {
    String host = "";
    int port = 0;
    long epoch = 0;
    for (int i = 0; i + 1 < reply.size(); i += 2) {
      String value = Questions.text(reply.get(i + 1));
      switch (Questions.text(reply.get(i))) {
        case "ip" -> host = value;
        case "port" -> port = Integer.parseInt(value);
        case "config-epoch" -> epoch = Long.parseLong(value);
        default -> {}
      }
    }
    if (host.isEmpty() || port < 1 || port > 65_535) {
      throw new IllegalArgumentException("its answer has no address");
    }
    return new Answer(new Endpoint(host, port), epoch);
  }
}
