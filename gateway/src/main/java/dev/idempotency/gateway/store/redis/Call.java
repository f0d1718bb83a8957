package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One command of the store: the same bytes go out again where the first sending was lost with its
 * connection. Confined to the event loop once it is handed over.
 */
final class Call<R> {

  private final Script script;
  private final byte[][] keys;
  private final byte[][] texts;
  private final long[] numbers;
  private final Function<byte @Nullable [], R> reader;
  private final CompletableFuture<R> reply = new CompletableFuture<>();

  /** When it fails for lack of an answer, by {@link System#nanoTime}, once that is set. */
  long due;

  private boolean begun;

  /** How many connections it was written to. */
  int sendings;

  /** What is under way for it; null while it waits for a connection. */
  @Nullable ScriptCommand current;

  /** Who sees to it at present; null while nobody does. */
  @Nullable RedisLink at;

  /** Whether it is for a node of a Cluster that is only about to get its slot. */
  boolean asking;

  /** Whether it counts only once it has got as far as its link makes sure of. */
  boolean confirmed;

  /** With whom it waits for that; null while it does not. */
  Confirmations.@Nullable Group group;

  private byte @Nullable [] executed;

  /** How often a node of a Cluster did not execute it because of its slot. */
  int refusals;

  private @Nullable String lastRefusal;

  /**
   * A command that is still to be sent.
   *
   * @param keys what the script touches, all of one slot; the first is the operation's record
   * @param texts the script's first arguments
   * @param numbers its last ones
   * @param reader makes the answer out of the script's reply
   */
  Call(
      Script script,
      byte[][] keys,
      byte[][] texts,
      long[] numbers,
      Function<byte @Nullable [], R> reader) {
    this.script = script;
    this.keys = keys;
    this.texts = texts;
    this.numbers = numbers;
    this.reader = reader;
  }

  /** Begins its time; once, wherever it goes later. */
  void dueIn(long nanos) {
    if (!begun) {
      begun = true;
      due = System.nanoTime() + nanos;
    }
  }

  /** The name that decides which node of a Cluster is asked. */
  byte[] key() {
    return keys[0];
  }

  /** This sending did nothing; there may be another. */
  void notExecuted(String why) {
    sendings--;
    refusals++;
    current = null;
    at = null;
    lastRefusal = why;
  }

  /** What Redis has replied while the confirmation is awaited; null: nothing. */
  byte @Nullable [] executed() {
    return executed;
  }

  void executed(byte @Nullable [] reply) {
    executed = reply;
  }

  /** Its time is over. */
  void expire(String why) {
    fail(lastRefusal == null ? why : why + "; last: " + lastRefusal);
  }

  Script script() {
    return script;
  }

  CompletableFuture<R> reply() {
    return reply;
  }

  boolean isDone() {
    return reply.isDone();
  }

  /**
   * The arguments of EVAL or EVALSHA.
   *
   * @param whole whether the script's text is sent instead of its hash
   */
  CommandArgs<byte[], byte[]> arguments(boolean whole) {
    CommandArgs<byte[], byte[]> arguments =
        new CommandArgs<>(ByteArrayCodec.INSTANCE)
            .add(whole ? script.text() : script.digest())
            .add(keys.length);
    for (byte[] key : keys) {
      // Not as a key: only the number before tells one from another argument.
      arguments.add(key);
    }
    for (byte[] text : texts) {
      arguments.add(text);
    }
    for (long number : numbers) {
      arguments.add(number);
    }
    return arguments;
  }

  void answer(byte @Nullable [] replied) {
    R answer;
    try {
      answer = reader.apply(replied);
    } catch (StoreUnavailableException e) {
      reply.completeExceptionally(e);
      return;
    } catch (RuntimeException e) {
      reply.completeExceptionally(
          new StoreUnavailableException("the reply of Redis makes no sense", e));
      return;
    }
    reply.complete(answer);
  }

  void fail(String why) {
    reply.completeExceptionally(
        sendings == 0
            ? StoreUnavailableException.notExecuted(why)
            : new StoreUnavailableException(why));
  }

  /** Redis said no: an earlier sending apart, the command was not executed. */
  void refuse(String why) {
    reply.completeExceptionally(
        sendings <= 1
            ? StoreUnavailableException.notExecuted(why)
            : new StoreUnavailableException(why));
  }
}
