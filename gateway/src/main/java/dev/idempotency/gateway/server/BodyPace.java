package dev.idempotency.gateway.server;

/**
 * Whether a request's body comes fast enough in all, although no silence in it is too long. Time in
 * which the gateway itself does not read is not the client's.
 *
 * <p>Event loop only.
 */
final class BodyPace {

  private final long graceNanos;
  private final double bytesPerNano;
  private long bytes;
  private long readNanos;
  private long lookedAt;

  BodyPace(ServerOptions options) {
    graceNanos = options.bodyTimeout().toNanos();
    bytesPerNano = options.bodyRate() / 1e9;
  }

  /** A request begins. */
  void begin(long now) {
    bytes = 0;
    readNanos = 0;
    lookedAt = now;
  }

  void came(int count) {
    bytes += count;
  }

  /**
   * Called at each beat of a request whose body is not whole.
   *
   * @param reading whether the body is read at the moment
   */
  boolean isTooSlow(long now, boolean reading) {
    if (reading) {
      readNanos += now - lookedAt;
    }
    lookedAt = now;
    return readNanos > graceNanos && bytes < (readNanos - graceNanos) * bytesPerNano;
  }
}
