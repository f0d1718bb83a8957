package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreFinding;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandKeyword;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The commands under way to one server. Each ends within the deadline: with the reply, or as
 * failed.
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
final class RedisLink extends LoopLink implements ScriptCommand.Listener, Connector.Listener {

  /** Hears, on the event loop, of what a server of many can't do by itself. */
  interface Neighbours {
    /**
     * Redis did not execute a command and said why.
     *
     * @return whether somebody else sees to the command from now on
     */
    boolean refused(RedisLink link, Call<?> call, String error);

    /** The server can't be reached at present. */
    void unreachable();
  }

  /** How often a guarded server is asked that nobody checks over this link. */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(30);

  /** How many commands may be under way. */
  static final int LIMIT = 8_192;

  private final Connector connector;
  private final long deadlineNanos;
  private final ArrayDeque<Call<?>> pending = new ArrayDeque<>();
  private final Tick tick;
  private final Target target;
  private final Neighbours neighbours;
  private final @Nullable Confirmations confirmations;
  private final @Nullable Epoch epoch;
  private final @Nullable ServerCheck check;
  private final Duration checks;

  private @Nullable StatefulRedisConnection<byte[], byte[]> connection;
  private int unanswered;
  private boolean answered;
  private long progressAt;

  /**
   * A way to one server, not yet opened.
   *
   * @param terms what is asked of it
   */
  RedisLink(EventLoop loop, Target target, Terms terms, Neighbours neighbours) {
    super(loop);
    this.target = target;
    this.neighbours = neighbours;
    this.deadlineNanos = terms.deadline().toNanos();
    this.confirmations =
        terms.durability().isNone()
            ? null
            : new Confirmations(loop, terms.durability(), terms.deadline());
    this.tick = new Tick(loop, deadlineNanos / 8, this::onTick);
    Questions questions = new Questions(loop, terms.connect());
    RedisDemands demands = terms.demands();
    this.epoch = demands.guarded() ? new Epoch(questions) : null;
    this.check =
        demands.checks().isZero() ? null : new ServerCheck(target.name(), questions, demands);
    this.checks = demands.checks().isZero() ? LOOK_AGAIN : demands.checks();
    this.connector = new Connector(loop, target, terms, epoch, this);
  }

  @Override
  public void open() {
    loop.execute(connector::start);
  }

  @Override
  void end() {
    connection = null;
    connector.close();
    failAll("the store is closed");
  }

  @Override
  public boolean reachable() {
    return connector.reachable();
  }

  @Override
  public String detail() {
    return connector.detail();
  }

  @Override
  public long sinceLoss(byte[] key) {
    return epoch == null ? Long.MAX_VALUE : epoch.sinceLoss();
  }

  /** Also for a call that has been elsewhere. */
  @Override
  void accept(Call<?> call) {
    call.at = this;
    if (connection == null && !connector.isPromising()) {
      call.fail(target.name() + " cannot be reached: " + detail());
    } else if (pending.size() >= LIMIT) {
      call.fail("Redis is too slow: " + LIMIT + " commands are under way");
    } else {
      call.dueIn(deadlineNanos);
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
    if (call.asking) {
      // On the same connection, right before it: so the command is allowed to an importing node.
      over.dispatch(asking());
    }
    ScriptCommand command = new ScriptCommand(call, over, whole, this);
    call.current = command;
    over.dispatch(command);
    if (call.confirmed && confirmations != null) {
      confirmations.wrote(call);
    }
  }

  private static Command<byte[], byte[], String> asking() {
    return new Command<>(CommandType.ASKING, new StatusOutput<>(ByteArrayCodec.INSTANCE));
  }

  @Override
  public void connected(StatefulRedisConnection<byte[], byte[]> fresh) {
    connection = fresh;
    unanswered = 0;
    if (confirmations != null) {
      confirmations.begin(fresh);
    }
    for (Script script : Script.values()) {
      load(script, fresh);
    }
    for (Call<?> call : List.copyOf(pending)) {
      // What another call's end made of the connection in between counts.
      if (connection == fresh && isHere(call) && call.current == null) {
        call.sendings++;
        write(call, fresh, false);
      }
    }
    watch(fresh);
  }

  /** Looks at the server now and again and again, as long as it is this connection. */
  private void watch(StatefulRedisConnection<byte[], byte[]> over) {
    if (check != null && connection == over) {
      check.look(over);
    }
    if (check != null || epoch != null) {
      ScheduledFuture<?> unused =
          loop.schedule(() -> lookAgain(over), checks.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void lookAgain(StatefulRedisConnection<byte[], byte[]> over) {
    if (connection != over) {
      return;
    }
    if (epoch != null) {
      // A server that was emptied keeps its connections.
      CompletionStage<Void> unused = epoch.ask(over, KeyNames.epoch(target.probeKey()));
    }
    watch(over);
  }

  @Override
  public List<StoreFinding> findings() {
    return check == null ? List.of() : check.findings();
  }

  @Override
  public long evictions() {
    return check == null ? 0 : check.evicted();
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
      if (confirmations != null) {
        confirmations.begin(null);
      }
      for (Call<?> call : List.copyOf(pending)) {
        if (isHere(call)) {
          call.current = null;
          if (call.sendings > 1 || !connector.isPromising()) {
            call.fail("the connection to " + target.name() + " was lost");
          }
        }
      }
      neighbours.unreachable();
    }
  }

  /** A call that was sent on to another server is still watched over here, but not ours. */
  private boolean isHere(Call<?> call) {
    return call.at == this && !call.isDone();
  }

  /** Whether attempts to reach it have failed; otherwise it is connected, or may be in a moment. */
  boolean isDown() {
    return connection == null && !connector.isPromising();
  }

  /** Whether no command is under way to it. */
  boolean isIdle() {
    return pending.isEmpty();
  }

  /** Another server takes the place of this one. */
  void move(String why) {
    connector.move(why);
  }

  @Override
  public void gaveUp(String why) {
    failAll(target.name() + " cannot be reached: " + why);
    neighbours.unreachable();
  }

  private void failAll(String why) {
    for (Call<?> call : List.copyOf(pending)) {
      if (isHere(call)) {
        call.current = null;
        call.fail(why);
      }
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
        answered(call, command.value());
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

  /** A write counts when it is confirmed; what is there already is said at once. */
  private static void answered(Call<?> call, byte @Nullable [] value) {
    if (call.group != null && Replies.isWritten(value)) {
      call.executed(value);
    } else {
      call.group = null;
      call.answer(value);
    }
  }

  private void refused(ScriptCommand command, String error) {
    if (Refusal.isNoScript(error) && !command.whole) {
      write(command.call, command.connection, true);
      return;
    }
    if (neighbours.refused(this, command.call, error)) {
      return;
    }
    command.call.refuse(target.name() + " refused: " + Refusal.text(error));
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
        first.expire(
            confirmations != null && first.executed() != null
                ? confirmations.missing()
                : target.name() + " did not answer within " + deadlineNanos / 1_000_000 + " ms");
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
