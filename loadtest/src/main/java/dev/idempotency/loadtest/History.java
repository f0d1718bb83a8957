package dev.idempotency.loadtest;

import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What clients sent and were told, in memory and, line by line, on disk.
 *
 * <p>Threading: from any thread.
 */
final class History implements Closeable {

  private final long begin = System.nanoTime();
  private final List<Heard> all = new ArrayList<>();
  private final PrintWriter file;

  History(Path file) throws IOException {
    this.file = new PrintWriter(Files.newBufferedWriter(file));
  }

  /** Milliseconds since the run began. */
  long now() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
  }

  synchronized void add(Heard heard) {
    all.add(heard);
    file.println(heard.toLine());
  }

  /** A copy. */
  synchronized List<Heard> all() {
    return new ArrayList<>(all);
  }

  @Override
  public synchronized void close() {
    file.close();
  }
}
