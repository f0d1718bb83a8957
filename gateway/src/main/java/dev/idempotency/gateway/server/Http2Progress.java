package dev.idempotency.gateway.server;

/** How far one stream got, as seen from one look to the next. Monotonic clock, nanoseconds. */
final class Http2Progress {

  private final BodyPace pace;
  private final long longestSilence;
  private long bodyMovedAt;
  private long bodySeen;
  private long responseMovedAt;

  Http2Progress(ServerOptions options, long now) {
    this.pace = new BodyPace(options);
    this.longestSilence = options.bodyTimeout().toNanos();
    this.bodyMovedAt = now;
    this.responseMovedAt = now;
    pace.begin(now);
  }

  /**
   * Looks at a body that is not whole, and says whether it stopped or comes too slowly.
   *
   * @param bytes that came of it in all
   * @param reading whether the client may send more of it; other time is not the client's
   */
  boolean isBodyLate(long bytes, boolean reading, long now) {
    if (bytes != bodySeen || !reading) {
      bodyMovedAt = now;
    }
    pace.came((int) (bytes - bodySeen));
    bodySeen = bytes;
    return pace.isTooSlow(now, reading) || now - bodyMovedAt > longestSilence;
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
