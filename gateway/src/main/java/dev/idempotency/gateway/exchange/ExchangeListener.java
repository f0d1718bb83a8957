package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * Hears what exchanges do, for metrics and logs; a listener takes what it wants to hear.
 *
 * <p>Threading: called on all event loops at once. Failure: no method may throw or block.
 */
public interface ExchangeListener {

  /** What {@link #probed} says where a key or a path can't be put safely into the probe's URL. */
  String UNASKABLE = "unaskable";

  /** An exchange began. */
  default void opened() {}

  /** An exchange ended: its client was answered, or is gone and the upstream has answered. */
  default void closed(RequestHead head, Summary summary) {}

  /** An exchange with a key came that far. */
  default void step(Step step) {}

  /** A connection was closed before anything came on it, because no place was left. */
  default void connectionRefused() {}

  /** An authorisation service was asked, or its earlier word was taken. */
  default void authorized(String route, Authorizer.Word word) {}

  /**
   * An upstream was asked what became of an operation, or should have been.
   *
   * @param finding {@code completed}, {@code never}, {@code nothing} or {@link #UNASKABLE}
   */
  default void probed(String route, String finding) {}

  /** A write to the store failed and is tried again in the background. */
  default void storeWriteDeferred() {}

  /** A write that was tried in the background is through, or given up. */
  default void deferredWriteEnded(boolean written) {}

  /** A response that is to be stored in the background is not kept, for want of room. */
  default void deferredResponseDropped() {}

  /** A renewal of a lease failed or came too late. */
  default void renewalFailed() {}

  /** An attempt found that another one holds its record. */
  default void fenced() {}

  /** The store failed; the message is for the log. */
  default void storeFailed(String message) {}

  /**
   * A stored response can't be put away or taken out of its envelope, and its operation is done but
   * not kept; the message is for the log.
   */
  default void responseUnreadable(String message) {}

  /** An exception that nobody expected: a bug. */
  default void bug(Throwable cause) {}

  /**
   * The numbers of one exchange.
   *
   * @param route the route's name; empty where none took the request
   * @param result how it ended
   * @param status what the client was told; 0 where nothing
   * @param attempt the attempt's number, 0 where nothing was forwarded under a key
   * @param derived whether the request had no key and itself named its operation
   * @param wholeNanos from the request's head to the end of the answer
   * @param upstreamNanos from the first byte sent to the response's end; 0 where nothing was sent
   * @param storeNanos waiting for the store in all; 0 where it was not asked
   * @param wouldBe how it would have ended on a route that only observes, and did not; null where
   *     the gateway did what it decided
   */
  record Summary(
      String route,
      Result result,
      int status,
      long attempt,
      boolean derived,
      long wholeNanos,
      long upstreamNanos,
      long storeNanos,
      @Nullable Result wouldBe) {}
}
