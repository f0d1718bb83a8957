package dev.idempotency.gateway.server;

import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * How long a client may take for each part of what it does on one HTTP/1.1 connection. Says what is
 * due; the connection does it.
 *
 * <p>Event loop only.
 */
final class Deadlines {

  /** What the connection has to do. */
  enum Due {
    NOTHING,
    /** Close without a word. */
    CLOSE,
    /** The head took too long. */
    LATE_HEAD,
    /** The body stopped, or comes too slowly. */
    LATE_BODY
  }

  private final ServerOptions options;
  private final RequestDecoder decoder;
  private final BodyPace pace;
  private final Outbound outbound = new Outbound();
  private long heardAt = System.nanoTime();

  Deadlines(ServerOptions options, RequestDecoder decoder) {
    this.options = options;
    this.decoder = decoder;
    this.pace = new BodyPace(options);
  }

  /** A message came, or an answer is out. */
  void restart() {
    heardAt = System.nanoTime();
  }

  void requestBegins() {
    pace.begin(heardAt);
  }

  void bodyCame(int bytes) {
    pace.came(bytes);
  }

  /**
   * What is due now.
   *
   * @param stream the request that is read or answered; null where there is none
   * @param heldBack whether the gateway itself does not read its body at the moment
   */
  Due look(
      long now,
      Channel channel,
      @Nullable Http1Stream stream,
      boolean heldBack,
      @Nullable Lingering lingering) {
    outbound.look(channel, now);
    if (outbound.stalledFor(now) > options.bodyTimeout().toNanos()) {
      // It takes nothing of its response: what waits for it is freed.
      return Due.CLOSE;
    }
    if (!outbound.isEmpty()) {
      heardAt = now;
    }
    if (lingering != null) {
      return lingering.isOver(now, outbound) ? Due.CLOSE : Due.NOTHING;
    }
    if (stream == null) {
      return between(now);
    }
    boolean unfinished = !stream.requestComplete && !stream.isOver();
    return unfinished && within(now, heldBack) ? Due.LATE_BODY : Due.NOTHING;
  }

  private Due between(long now) {
    long quiet = now - heardAt;
    if (decoder.isMidway()) {
      // Bytes that came while an earlier request was answered could not be read on before.
      long waited = Math.min(now - decoder.midwaySince(), quiet);
      return waited > options.headTimeout().toNanos() ? Due.LATE_HEAD : Due.NOTHING;
    }
    return quiet > options.idleTimeout().toNanos() ? Due.CLOSE : Due.NOTHING;
  }

  /** Whether the body is late. */
  private boolean within(long now, boolean heldBack) {
    if (heldBack) {
      heardAt = now;
    }
    return pace.isTooSlow(now, !heldBack) || now - heardAt > options.bodyTimeout().toNanos();
  }
}
