package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreHealth;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandKeyword;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The commands under way to Redis. Each ends within the deadline: with the reply, or as failed.
 *
 * <p>A command whose connection broke is written once more, over the next connection, if that is
 * there before the deadline: the attempt's token makes it the same command. While the first attempt
 * to reconnect is under way commands wait; once that has failed they fail at once.
 *
 * <p>The deadline is one and the same for all, so that the oldest command is always the first to be
 * due: one queue and one tick watch over all of them, instead of a timer for each.
 *
 * <p>Threading: confined to the event loop, {@link #send}, {@link #close} and the health apart.
 */
final class RedisLink implements StoreHealth, ScriptCommand.Listener, Connector.Listener {

  /** How many commands may be under way. */
  static final int LIMIT = 8_192;

  private final EventLoop loop;
  private final Connector connector;
  private final long deadlineNanos;
  private final ArrayDeque<Call<?>> pending = new ArrayDeque<>();
  private final Tick tick;

  private @Nullable StatefulRedisConnection<byte[], byte[]> connection;
  private int unanswered;
  private boolean answered;
  private long progressAt;

  RedisLink(
      EventLoop loop, LoopClient client, byte[] probeKey, Duration deadline, Duration connect) {
    this.loop = loop;
    this.deadlineNanos = deadline.toNanos();
    this.tick = new Tick(loop, deadlineNanos / 8, this::onTick);
    this.connector = new Connector(loop, client, probeKey, deadline, connect, this);
  }

  void open() {
    loop.execute(connector::start);
  }

  /** Sends a command, or fails it; from any thread. */
  <R> CompletionStage<R> send(Call<R> call) {
    if (loop.inEventLoop()) {
      accept(call);
      return call.reply();
    }
    try {
      loop.execute(() -> accept(call));
    } catch (RejectedExecutionException e) {
      call.fail("the event loop has ended");
    }
    return call.reply();
  }

  /** Ends it; from any thread. */
  CompletionStage<Void> close() {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    try {
      loop.execute(
          () -> {
            connection = null;
            connector.close(closed);
            failAll("the store is closed");
          });
    } catch (RejectedExecutionException e) {
      // The loop has ended and took the connection along.
      closed.complete(null);
    }
    return closed;
  }

  @Override
  public boolean reachable() {
    return connector.reachable();
  }

  @Override
  public String detail() {
    return connector.detail();
  }

  private void accept(Call<?> call) {
    if (connection == null && !connector.isPromising()) {
      call.fail("Redis cannot be reached: " + detail());
    } else if (pending.size() >= LIMIT) {
      call.fail("Redis is too slow: " + LIMIT + " commands are under way");
    } else {
      call.due = System.nanoTime() + deadlineNanos;
      pending.add(call);
      tick.start();
      if (connection != null) {
        call.sendings++;
        write(call, connection, false);
      }
    }
  }

  private void write(Call<?> call, StatefulRedisConnection<byte[], byte[]> over, boolean whole) {
    if (unanswered++ == 0) {
      progressAt = call.due - deadlineNanos;
    }
    ScriptCommand command = new ScriptCommand(call, over, whole, this);
    call.current = command;
    over.dispatch(command);
  }

  @Override
  public void connected(StatefulRedisConnection<byte[], byte[]> fresh) {
    connection = fresh;
    unanswered = 0;
    for (Script script : Script.values()) {
      load(script, fresh);
    }
    for (Call<?> call : List.copyOf(pending)) {
      // What another call's end made of the connection in between counts.
      if (connection == fresh && !call.isDone() && call.current == null) {
        call.sendings++;
        write(call, fresh, false);
      }
    }
  }

  /** Spares the first command the way to and fro that tells it that its script is not there. */
  private static void load(Script script, StatefulRedisConnection<byte[], byte[]> to) {
    CommandArgs<byte[], byte[]> arguments =
        new CommandArgs<>(ByteArrayCodec.INSTANCE).add(CommandKeyword.LOAD).add(script.text());
    // Where it is refused, the commands bring their scripts along.
    to.dispatch(
        new Command<>(CommandType.SCRIPT, new ValueOutput<>(ByteArrayCodec.INSTANCE), arguments));
  }

  @Override
  public void disconnected(StatefulRedisConnection<byte[], byte[]> lost) {
    if (connection == lost) {
      connection = null;
      for (Call<?> call : List.copyOf(pending)) {
        call.current = null;
        if (!call.isDone() && (call.sendings > 1 || !connector.isPromising())) {
          call.fail("the connection to Redis was lost");
        }
      }
    }
  }

  @Override
  public void gaveUp(String why) {
    failAll("Redis cannot be reached: " + why);
  }

  private void failAll(String why) {
    for (Call<?> call : List.copyOf(pending)) {
      call.current = null;
      call.fail(why);
    }
  }

  @Override
  public void replied(ScriptCommand command) {
    if (command.connection == connection) {
      unanswered--;
      answered = true;
    }
    Call<?> call = command.call;
    String error = command.error();
    if (call.current == command && !call.isDone()) {
      if (error == null) {
        call.answer(command.value());
      } else {
        refused(command, error);
      }
    } else if (error != null && Refusal.isNoScript(error) && command.connection == connection) {
      // Too late for this one, whose caller was told so, but not for the next.
      load(call.script(), command.connection);
    }
    for (Call<?> first = pending.peek(); first != null && first.isDone(); first = pending.peek()) {
      pending.poll();
    }
  }

  private void refused(ScriptCommand command, String error) {
    if (Refusal.isNoScript(error) && !command.whole) {
      write(command.call, command.connection, true);
      return;
    }
    command.call.refuse("Redis refused: " + Refusal.text(error));
    if (Refusal.makesConnectionUseless(error)) {
      connector.drop(command.connection, Refusal.text(error));
    }
  }

  @Override
  public void broken(ScriptCommand command, Throwable cause) {
    if (command.connection == connection) {
      unanswered--;
    }
    Call<?> call = command.call;
    if (call.current != command || call.isDone()) {
      return;
    }
    // Whatever it was, replies can no longer be told apart by their order.
    connector.lost(command.connection);
  }

  /** Says whether there is anything left to watch. */
  private boolean onTick(long now) {
    for (Call<?> first = pending.peek();
        first != null && (first.isDone() || first.due - now <= 0);
        first = pending.peek()) {
      pending.poll();
      if (!first.isDone()) {
        first.fail("Redis did not answer within " + deadlineNanos / 1_000_000 + " ms");
      }
    }
    if (answered) {
      answered = false;
      progressAt = now;
    }
    if (connection != null && unanswered > 0 && now - progressAt > 2 * deadlineNanos) {
      connector.drop(connection, "no answer at all, not even a late one");
    }
    return !pending.isEmpty() || (connection != null && unanswered > 0);
  }
}
