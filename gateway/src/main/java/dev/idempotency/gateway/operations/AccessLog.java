package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.http.RequestHead;
import java.time.InstantSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes one line for each request to the logger {@value #LOGGER}: time, method, path, route,
 * outcome, status, attempt, whether the key was derived, durations. Never a query, a key, a header
 * value or a body. The line is whole as it is: the logger adds nothing to it.
 *
 * <p>Threading: called from any thread; {@link Logging} hands the lines to a thread of its own.
 */
public final class AccessLog implements ExchangeListener {

  /** The name of the logger. */
  public static final String LOGGER = "gateway.access";

  /** A path is the client's: no line is longer because of it. */
  private static final int LONGEST_PATH = 1_024;

  private final Logger logger = LoggerFactory.getLogger(LOGGER);
  private final Logging.Format format;
  private final InstantSource clock;

  public AccessLog(Logging.Format format) {
    this(format, InstantSource.system());
  }

  AccessLog(Logging.Format format, InstantSource clock) {
    this.format = format;
    this.clock = clock;
  }

  @Override
  public void closed(RequestHead head, Summary summary) {
    if (logger.isInfoEnabled()) {
      StringBuilder line = new StringBuilder(256);
      if (format == Logging.Format.JSON) {
        json(line, head, summary);
      } else {
        text(line, head, summary);
      }
      logger.info(line.toString());
    }
  }

  private void json(StringBuilder line, RequestHead head, Summary summary) {
    line.append("{\"ts\":\"");
    Timestamps.append(line, clock.instant());
    JsonText.quote(line.append("\",\"method\":"), head.method());
    JsonText.quote(line.append(",\"path\":"), shortened(head.path()));
    JsonText.quote(line.append(",\"route\":"), summary.route());
    JsonText.quote(line.append(",\"outcome\":"), summary.result().label());
    line.append(",\"status\":").append(summary.status());
    line.append(",\"attempt\":").append(summary.attempt());
    if (summary.derived()) {
      line.append(",\"key\":\"derived\"");
    }
    millis(line.append(",\"ms\":"), summary.wholeNanos());
    millis(line.append(",\"upstream_ms\":"), summary.upstreamNanos());
    millis(line.append(",\"store_ms\":"), summary.storeNanos());
    line.append('}');
  }

  private void text(StringBuilder line, RequestHead head, Summary summary) {
    Timestamps.append(line, clock.instant());
    JsonText.escape(line.append(" \""), head.method());
    JsonText.escape(line.append(' '), shortened(head.path()));
    line.append("\" route=").append(summary.route().isEmpty() ? "-" : summary.route());
    line.append(" outcome=").append(summary.result().label());
    line.append(" status=").append(summary.status());
    line.append(" attempt=").append(summary.attempt());
    if (summary.derived()) {
      line.append(" key=derived");
    }
    millis(line.append(" ms="), summary.wholeNanos());
    millis(line.append(" upstream_ms="), summary.upstreamNanos());
    millis(line.append(" store_ms="), summary.storeNanos());
  }

  private static String shortened(String path) {
    return path.length() <= LONGEST_PATH ? path : path.substring(0, LONGEST_PATH) + "...";
  }

  /** Milliseconds with three decimals, without the garbage of a formatter. */
  private static void millis(StringBuilder line, long nanos) {
    long micros = Math.max(0, nanos) / 1_000;
    int rest = (int) (micros % 1_000);
    line.append(micros / 1_000).append('.');
    line.append((char) ('0' + rest / 100));
    line.append((char) ('0' + rest / 10 % 10));
    line.append((char) ('0' + rest % 10));
  }
}
