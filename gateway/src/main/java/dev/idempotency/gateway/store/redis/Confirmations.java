package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Durability.Level;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Makes sure that writes have got as far as a route wants: WAIT, or WAITAOF, right behind them on
 * the connection that they went over, since Redis answers for what that connection wrote.
 *
 * <p>One such question is under way at a time; what is written meanwhile shares the next. Redis
 * executes nothing more of a connection that waits, so each question gives up after two fifths of
 * the deadline: the commands behind it have as long, and some time to be answered.
 *
 * <p>A server older than WAITAOF is asked for its settings instead: with {@code appendfsync always}
 * it answers no write before it is on the disk.
 *
 * <p>Threading: confined to the event loop.
 */
final class Confirmations {

  /** Commands that share a question. */
  static final class Group {
    private final List<Call<?>> calls = new ArrayList<>();
  }

  private enum Wait implements ProtocolKeyword {
    WAITAOF;

    private final byte[] bytes = "WAITAOF".getBytes(StandardCharsets.US_ASCII);

    @Override
    public byte[] getBytes() {
      return bytes;
    }
  }

  private final Durability durability;
  private final String most;
  private final Questions questions;

  private @Nullable StatefulRedisConnection<byte[], byte[]> connection;
  private @Nullable Group asked;
  private Group next = new Group();
  private boolean tooOld;

  Confirmations(EventLoop loop, Durability durability, Duration deadline) {
    this.durability = durability;
    this.most = Long.toString(Math.max(1, deadline.toMillis() * 2 / 5));
    // Whoever waits for it has a deadline of its own, and a lost connection ends it.
    this.questions = new Questions(loop, deadline.multipliedBy(3));
  }

  /** Another connection, or none: what was under way is no longer. */
  void begin(@Nullable StatefulRedisConnection<byte[], byte[]> fresh) {
    connection = fresh;
    asked = null;
    next = new Group();
    tooOld = false;
  }

  /** The command was just written over the connection. */
  void wrote(Call<?> call) {
    call.executed(null);
    call.group = next;
    next.calls.add(call);
    if (asked == null) {
      ask();
    }
  }

  /** What the writes that are not confirmed lack, for the log. */
  String missing() {
    return durability.level() == Level.DISK
        ? "the write was not on the disk of Redis within " + most + " ms"
        : "the write did not reach " + replicas() + " within " + most + " ms";
  }

  private String replicas() {
    return durability.replicas() + (durability.replicas() == 1 ? " replica" : " replicas");
  }

  private void ask() {
    StatefulRedisConnection<byte[], byte[]> over = connection;
    if (over == null || next.calls.isEmpty()) {
      return;
    }
    Group group = next;
    asked = group;
    next = new Group();
    ask(group, over);
  }

  private void ask(Group group, StatefulRedisConnection<byte[], byte[]> over) {
    CompletableFuture<Void> unused =
        question(over)
            .handle(
                (reply, failure) -> {
                  if (connection == over && asked == group) {
                    answered(group, over, reply, failure);
                  }
                  return null;
                });
  }

  private CompletableFuture<List<Object>> question(StatefulRedisConnection<byte[], byte[]> over) {
    if (durability.level() == Level.REPLICAS) {
      return questions.ask(over, CommandType.WAIT, Integer.toString(durability.replicas()), most);
    }
    return tooOld
        ? questions.ask(over, CommandType.CONFIG, "GET", "append*")
        : questions.ask(over, Wait.WAITAOF, "1", "0", most);
  }

  private void answered(
      Group group,
      StatefulRedisConnection<byte[], byte[]> over,
      @Nullable List<Object> reply,
      @Nullable Throwable failure) {
    if (failure != null && isLostConnection(failure)) {
      // Its end is told to all: what waited is sent once more over the next.
      return;
    }
    if (failure != null && durability.level() == Level.DISK && !tooOld && isUnknown(failure)) {
      tooOld = true;
      ask(group, over);
      return;
    }
    String trouble = trouble(reply, failure);
    asked = null;
    // First the next question: what the callers do now is written behind it.
    ask();
    for (Call<?> call : group.calls) {
      if (call.group == group && !call.isDone()) {
        end(call, trouble);
      }
    }
  }

  private static void end(Call<?> call, @Nullable String trouble) {
    call.group = null;
    if (trouble != null) {
      call.fail(trouble);
    } else if (call.executed() != null) {
      call.answer(call.executed());
    } else {
      // Its reply should have come before; never taken for a yes.
      call.fail("Redis confirmed a write that it has not answered");
    }
  }

  private static boolean isLostConnection(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return !(cause instanceof RedisCommandExecutionException)
        && !(cause instanceof TimeoutException);
  }

  private static boolean isUnknown(Throwable failure) {
    return Refusal.text(failure).toLowerCase(Locale.ROOT).contains("unknown command");
  }

  /** Why the writes are not as sure as they have to be; null where they are. */
  private @Nullable String trouble(@Nullable List<Object> reply, @Nullable Throwable failure) {
    if (failure != null || reply == null) {
      String why = failure == null ? "no reply" : Refusal.text(failure);
      return tooOld
          ? "Redis knows no WAITAOF (7.2 or later has it) and does not say how it keeps its file: "
              + why
          : missing() + ": " + why;
    }
    if (tooOld) {
      return isAlwaysOnDisk(reply)
          ? null
          : "Redis knows no WAITAOF (7.2 or later has it), and only with appendonly yes and"
              + " appendfsync always is a write on its disk when it answers";
    }
    long reached = !reply.isEmpty() && reply.get(0) instanceof Long count ? count : 0;
    long wanted = durability.level() == Level.DISK ? 1 : durability.replicas();
    if (reached >= wanted) {
      return null;
    }
    return durability.level() == Level.DISK ? missing() : missing() + " (" + reached + " had it)";
  }

  private static boolean isAlwaysOnDisk(List<Object> settings) {
    String text = String.join(" ", Questions.texts(settings)) + " ";
    return text.contains("appendonly yes ") && text.contains("appendfsync always ");
  }
}
