package dev.idempotency.gateway.server;

/** How far one stream got, as seen from one look to the next. Monotonic clock, nanoseconds. */
final class Http2Progress {

  private final long began;
  private long bodyMovedAt;
  private long bodySeen;
  private long heldBackFor;
  private long lookedAt;
  private long responseMovedAt;

  Http2Progress(long now) {
    this.began = now;
    this.bodyMovedAt = now;
    this.lookedAt = now;
    this.responseMovedAt = now;
  }

  /** Looks at a body that the client may send more of. */
  void body(long bytes, long now) {
    if (bytes != bodySeen) {
      bodySeen = bytes;
      bodyMovedAt = now;
    }
    lookedAt = now;
  }

  /** Looks at a body that the gateway holds back: that time is not the client's. */
  void bodyHeldBack(long bytes, long now) {
    bodySeen = bytes;
    bodyMovedAt = now;
    heldBackFor += now - lookedAt;
    lookedAt = now;
  }

  /** For how long nothing of the body came. */
  long bodySilence(long now) {
    return now - bodyMovedAt;
  }

  /** Whether the body comes at that rate, in bytes per second, after a grace. */
  boolean isFastEnough(long rate, long graceNanos, long now) {
    long time = now - began - heldBackFor;
    return rate == 0 || time < graceNanos || bodySeen / (time / 1e9) >= rate;
  }

  /** The response goes on, or does not have to. */
  void responseMoved(long now) {
    responseMovedAt = now;
  }

  /** For how long the client has not let the response go on. */
  long responseStall(long now) {
    return now - responseMovedAt;
  }
}
