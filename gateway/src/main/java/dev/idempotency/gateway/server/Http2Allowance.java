package dev.idempotency.gateway.server;

/**
 * What a client may still do that costs work and asks for nothing: frames that carry nothing, and
 * resets. A client that uses it up gets no more of the gateway's time (RFC 9113 §10.5).
 *
 * <p>Frames are paid from a store that requests and responses fill, and time a little; resets are
 * counted in windows of 30 s. Time is that of the monotonic clock, in nanoseconds.
 */
final class Http2Allowance {

  /** What a SETTINGS frame costs: it may change every stream. */
  static final int SETTINGS = 10;

  private static final int MOST = 2_000;
  private static final int PER_SECOND = 100;
  private static final int PER_REQUEST = 10;
  private static final int BYTES_PER_FRAME = 256;
  private static final long RESET_WINDOW_NANOS = 30_000_000_000L;
  private static final long NANOS_PER_FRAME = 1_000_000_000L / PER_SECOND;

  private final int mostResets;
  private long frames = MOST;
  private long filledAt;
  private int resets;
  private long windowBegan;

  /**
   * @param mostResets within 30 s
   */
  Http2Allowance(int mostResets, long now) {
    this.mostResets = mostResets;
    this.filledAt = now;
    this.windowBegan = now;
  }

  void spend(int price) {
    frames -= price;
  }

  /** A request came. */
  void earnRequest() {
    frames = Math.min(MOST, frames + PER_REQUEST);
  }

  /** So much is sent to the client, which gives window back for it in frames of its own. */
  void earnBytes(int bytes) {
    frames = Math.min(MOST, frames + 2 + bytes / BYTES_PER_FRAME);
  }

  /** Whether more frames came than are allowed. */
  boolean isOverdrawn(long now) {
    if (frames >= 0) {
      return false;
    }
    long earned = (now - filledAt) / NANOS_PER_FRAME;
    filledAt += earned * NANOS_PER_FRAME;
    frames = Math.min(MOST, frames + earned);
    return frames < 0;
  }

  /** A stream was reset by the client, or by its fault; false where these are too many. */
  boolean takeReset(long now) {
    if (now - windowBegan >= RESET_WINDOW_NANOS) {
      windowBegan = now;
      resets = 0;
    }
    return ++resets <= mostResets;
  }
}
