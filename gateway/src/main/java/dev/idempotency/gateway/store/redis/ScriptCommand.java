package dev.idempotency.gateway.store.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

/** One sending of a call over one connection; tells its listener once how it ended. */
final class ScriptCommand extends Command<byte[], byte[], byte[]> {

  /** Hears how sendings end, on the event loop. */
  interface Listener {
    /** Redis replied, with an error or a value. */
    void replied(ScriptCommand command);

    /** There will be no reply. */
    void broken(ScriptCommand command, Throwable cause);
  }

  final Call<?> call;
  final StatefulRedisConnection<byte[], byte[]> connection;
  final boolean whole;
  private final Listener listener;
  private boolean ended;

  /**
   * A sending of {@code call}, to be dispatched over {@code connection}.
   *
   * @param whole whether the script's text is sent instead of its hash
   */
  ScriptCommand(
      Call<?> call,
      StatefulRedisConnection<byte[], byte[]> connection,
      boolean whole,
      Listener listener) {
    super(
        whole ? CommandType.EVAL : CommandType.EVALSHA,
        new ValueOutput<>(ByteArrayCodec.INSTANCE),
        call.arguments(whole));
    this.call = call;
    this.connection = connection;
    this.whole = whole;
    this.listener = listener;
  }

  /** The error that Redis replied, or null. */
  @Nullable String error() {
    return getOutput().getError();
  }

  /** The value that Redis replied. */
  byte @Nullable [] value() {
    return getOutput().get();
  }

  @Override
  public void complete() {
    super.complete();
    if (!ended) {
      ended = true;
      listener.replied(this);
    }
  }

  @Override
  public boolean completeExceptionally(Throwable cause) {
    super.completeExceptionally(cause);
    if (!ended) {
      ended = true;
      listener.broken(this, cause);
    }
    return true;
  }

  @Override
  public void cancel() {
    super.cancel();
    if (!ended) {
      ended = true;
      listener.broken(this, new IllegalStateException("cancelled"));
    }
  }
}
