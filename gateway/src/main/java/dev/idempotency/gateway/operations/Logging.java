package dev.idempotency.gateway.operations;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.OutputStreamAppender;
import java.io.FilterOutputStream;
import java.io.OutputStream;
import org.slf4j.LoggerFactory;

/**
 * Sets the log up. Everything goes to standard error, access lines too: standard output is for the
 * program's own words. A thread of its own writes, and lines are dropped while nobody reads them: a
 * stuck terminal must not stop an event loop.
 *
 * <p>A configuration file named by the system property {@code logback.configurationFile} is left
 * alone.
 */
public final class Logging {

  private static final String OWN = "dev.idempotency";
  private static final String POOL = "com.zaxxer.hikari";
  private static final int QUEUE = 8_192;
  private static final int FLUSH_MILLIS = 2_000;

  private Logging() {}

  /** How a line looks. */
  public enum Format {
    /** For people. */
    TEXT,
    /** For machines: one JSON object a line. */
    JSON
  }

  /**
   * Sets the log up, once, before anything is logged.
   *
   * @param level {@code trace}, {@code debug}, {@code info}, {@code warn}, {@code error} or {@code
   *     off}, of the gateway's own lines; libraries speak from {@code warn} on
   */
  public static void configure(Format format, String level) {
    configure(format, level, System.err);
  }

  static void configure(Format format, String level, OutputStream target) {
    Level own = Level.toLevel(level, null);
    if (own == null) {
      throw new IllegalArgumentException(
          level + " (expected: trace, debug, info, warn, error or off)");
    }
    if (System.getProperty("logback.configurationFile") != null
        || !(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
      return;
    }
    context.reset();
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(own.isGreaterOrEqual(Level.WARN) ? own : Level.WARN);
    root.addAppender(appender(context, "log", style(format), target));
    context.getLogger(OWN).setLevel(own);
    // It tells each connection that broke, with a stack trace; the store tells the outage, once.
    context.getLogger(POOL).setLevel(Level.ERROR);
    Logger access = context.getLogger(AccessLog.LOGGER);
    access.setLevel(Level.INFO);
    access.setAdditive(false);
    access.addAppender(appender(context, "access", LineEncoder.Style.BARE, target));
  }

  private static LineEncoder.Style style(Format format) {
    return format == Format.JSON ? LineEncoder.Style.JSON : LineEncoder.Style.TEXT;
  }

  private static Appender<ILoggingEvent> appender(
      LoggerContext context, String name, LineEncoder.Style style, OutputStream target) {
    LineEncoder encoder = new LineEncoder(style);
    encoder.setContext(context);
    encoder.start();
    OutputStreamAppender<ILoggingEvent> lines = new OutputStreamAppender<>();
    lines.setContext(context);
    lines.setName(name);
    lines.setEncoder(encoder);
    lines.setOutputStream(new Unclosed(target));
    lines.start();
    AsyncAppender queue = new AsyncAppender();
    queue.setContext(context);
    queue.setName(name + "-queue");
    queue.setQueueSize(QUEUE);
    queue.setNeverBlock(true);
    queue.setMaxFlushTime(FLUSH_MILLIS);
    queue.addAppender(lines);
    queue.start();
    return queue;
  }

  /** Writes what still waits, for at most two seconds each; the last act of the program. */
  public static void stop() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      context.stop();
    }
  }

  /** Standard error stays open when the log ends. */
  private static final class Unclosed extends FilterOutputStream {
    Unclosed(OutputStream target) {
      super(target);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws java.io.IOException {
      out.write(bytes, from, length);
    }

    @Override
    public void close() throws java.io.IOException {
      flush();
    }
  }
}
