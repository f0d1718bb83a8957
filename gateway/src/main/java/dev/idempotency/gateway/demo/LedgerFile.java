package dev.idempotency.gateway.demo;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The ledger on disk: lines are appended and handed to the operating system before the caller goes
 * on, so that they survive the end of this process, however it ends.
 *
 * <p>Threading: from any thread. The write runs on the caller's, which is good enough for a demo.
 */
final class LedgerFile implements Closeable {

  private final FileChannel channel;
  private final ReentrantLock lock = new ReentrantLock();

  private LedgerFile(FileChannel channel) {
    this.channel = channel;
  }

  static LedgerFile open(Path file) throws IOException {
    return new LedgerFile(
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
  }

  /**
   * Appends one line.
   *
   * @throws UncheckedIOException if it could not be written; what was to be recorded must then not
   *     happen
   */
  void append(String line) {
    ByteBuffer bytes = ByteBuffer.wrap((line + '\n').getBytes(StandardCharsets.UTF_8));
    lock.lock();
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("ledger file", e);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
