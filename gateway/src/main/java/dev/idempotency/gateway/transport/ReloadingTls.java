package dev.idempotency.gateway.transport;

import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A TLS context that follows its files. What is read anew serves the connections that begin
 * afterwards; files that are of no use change nothing.
 *
 * <p>The contents are compared, not the times: secrets that Kubernetes mounts change by a symbolic
 * link, and a copied file may keep its time.
 *
 * <p>Threading: safe from any thread. Files are read on a thread of its own, and on the caller's in
 * {@link #start}.
 */
public final class ReloadingTls implements AutoCloseable {

  /** Makes a context of what is in the files. */
  public interface Maker {
    SslContext make(TlsFiles.Contents contents) throws SSLException;
  }

  /** Hears what became of files that changed; may log. */
  public interface Listener {

    /**
     * The files changed and are in use.
     *
     * @param expires when the own certificate does; null where there is none
     */
    void reloaded(@Nullable Instant expires);

    /**
     * The files changed and are of no use.
     *
     * @param reason names the file and never shows what is in it
     */
    void refused(String reason);
  }

  private record Current(SslContext context, @Nullable Instant expires) {}

  private final TlsFiles files;
  private final Maker maker;
  private final Listener listener;
  private final AtomicLong failures = new AtomicLong();
  private volatile Current current;
  private byte[] seen;
  private String lastReason = "";
  private @Nullable ScheduledExecutorService executor;

  private ReloadingTls(TlsFiles files, Maker maker, Listener listener) throws TlsFileException {
    this.files = files;
    this.maker = maker;
    this.listener = listener;
    TlsFiles.Bytes bytes = files.read();
    this.seen = bytes.digest();
    this.current = load(bytes);
  }

  /** Reads the files, and looks at them again after each interval. */
  public static ReloadingTls start(
      TlsFiles files, Duration interval, Maker maker, Listener listener) throws TlsFileException {
    ReloadingTls tls = new ReloadingTls(files, maker, listener);
    tls.watch(interval);
    return tls;
  }

  private synchronized void watch(Duration interval) {
    ScheduledExecutorService made =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "tls-files");
              thread.setDaemon(true);
              return thread;
            });
    executor = made;
    long nanos = Math.max(1, interval.toNanos());
    ScheduledFuture<?> unused =
        made.scheduleWithFixedDelay(this::check, nanos, nanos, TimeUnit.NANOSECONDS);
  }

  private Current load(TlsFiles.Bytes bytes) throws TlsFileException {
    TlsFiles.Contents contents = files.parse(bytes);
    try {
      Instant expires =
          contents.chain().isEmpty() ? null : contents.chain().get(0).getNotAfter().toInstant();
      return new Current(maker.make(contents), expires);
    } catch (SSLException | IllegalArgumentException e) {
      throw new TlsFileException(
          (files.certificate() == null ? files.authorities() : files.certificate())
              + ": not accepted for TLS ("
              + e.getMessage()
              + ")",
          e);
    }
  }

  /** Looks at the files now. */
  void check() {
    try {
      checkOrThrow();
    } catch (TlsFileException e) {
      refused(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      // Else it would never look again.
      refused(e.getClass().getSimpleName());
    }
  }

  private synchronized void checkOrThrow() throws TlsFileException {
    TlsFiles.Bytes bytes = files.read();
    byte[] digest = bytes.digest();
    if (Arrays.equals(digest, seen)) {
      return;
    }
    // Before it is known whether it is of use: the same files are not refused again and again.
    seen = digest;
    lastReason = "";
    current = load(bytes);
    listener.reloaded(current.expires());
  }

  private synchronized void refused(String reason) {
    if (!reason.equals(lastReason)) {
      lastReason = reason;
      failures.incrementAndGet();
      listener.refused(reason);
    }
  }

  /** For the next connection. */
  public SslContext context() {
    return current.context();
  }

  /** When the own certificate expires; null where there is none. */
  public @Nullable Instant expires() {
    return current.expires();
  }

  /** How often changed files were of no use. */
  public long failures() {
    return failures.get();
  }

  /** Looks no more. */
  @Override
  public synchronized void close() {
    if (executor != null) {
      executor.shutdownNow();
    }
  }
}
