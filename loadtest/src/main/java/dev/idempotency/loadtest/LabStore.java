package dev.idempotency.loadtest;

import java.io.Closeable;
import java.io.IOException;
import java.util.random.RandomGenerator;

/**
 * The servers that keep the records, each behind a {@link Relay}.
 *
 * <p>Threading: confined to one thread, but for {@link #hop}.
 */
interface LabStore extends Closeable {

  /**
   * A gateway's way to them.
   *
   * @param url what its configuration says
   * @param relay what it goes through, or one of those; perhaps others do as well
   */
  record Hop(String url, Relay relay) {}

  /** A way for one more gateway. */
  Hop hop() throws IOException;

  /** One of the servers, to be stopped and continued. */
  Child server(RandomGenerator random);

  /** Kills one of the servers and starts it again with what it had on disk. */
  void restart(RandomGenerator random) throws IOException, InterruptedException;

  /** Ends all faults, and waits until all is served. */
  void heal() throws IOException, InterruptedException;

  /** Kills the server and starts it again empty. */
  default void restartEmpty() throws IOException, InterruptedException {
    throw new UnsupportedOperationException("only one server can lose all");
  }

  /**
   * Kills the primary and waits until its replica takes over.
   *
   * @param losing whether the replica lacks what was written last
   */
  default void failOver(boolean losing) throws IOException, InterruptedException {
    throw new UnsupportedOperationException("nobody takes over");
  }

  /** Moves slots that have records to another master. */
  default void moveSlots(RandomGenerator random) throws IOException, InterruptedException {
    throw new UnsupportedOperationException("one server has all");
  }
}
