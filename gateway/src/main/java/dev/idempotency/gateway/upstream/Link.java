package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.UpstreamConnection;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one address, with places for exchanges: in HTTP/1.1 it has one, in HTTP/2 many.
 *
 * <p>Every exchange that ends is told to the owner, and so is the end of the link.
 *
 * <p>Threading: event loop of its channel only. Failure: no method throws.
 */
interface Link {

  /**
   * Takes a place.
   *
   * @return null: there is none, or the connection turned out to be of no use and closes itself
   */
  @Nullable UpstreamConnection take();

  /** Places that are taken. */
  int exchanges();

  /** Whether no further place can be taken: all are, or the link is retired or about to close. */
  boolean isFull();

  /** Whether it is held by nothing but responses that are overdue. */
  boolean isOverdue();

  /** Called every few dozen milliseconds while exchanges are under way. */
  void beat(long now);

  /** Takes no new exchange, and closes when the last one has ended; at once if there is none. */
  void retire();

  /** Closes; exchanges under way fail. */
  void close();
}
