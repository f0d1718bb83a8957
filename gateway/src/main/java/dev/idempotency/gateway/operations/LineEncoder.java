package dev.idempotency.gateway.operations;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * Log events as lines: text for people, or JSON with the members {@code ts}, {@code level}, {@code
 * logger}, {@code thread}, {@code message} and, where something was thrown, {@code error}.
 */
final class LineEncoder extends EncoderBase<ILoggingEvent> {

  private static final byte[] NOTHING = {};

  /** What a line consists of. */
  enum Style {
    TEXT,
    JSON,
    /** The message and nothing else. */
    BARE
  }

  private final Style style;

  LineEncoder(Style style) {
    this.style = style;
  }

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    StringBuilder line = new StringBuilder(256);
    switch (style) {
      case TEXT -> text(line, event);
      case JSON -> json(line, event);
      case BARE -> line.append(event.getFormattedMessage());
    }
    return line.append('\n').toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void text(StringBuilder line, ILoggingEvent event) {
    Timestamps.append(line, Instant.ofEpochMilli(event.getTimeStamp()));
    line.append(' ').append(event.getLevel());
    line.append(' ').append(event.getLoggerName()).append(" - ");
    for (char c : event.getFormattedMessage().toCharArray()) {
      // One event, one line: nobody smuggles a second one in.
      line.append(Character.isISOControl(c) ? ' ' : c);
    }
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown != null) {
      line.append('\n').append(ThrowableProxyUtil.asString(thrown).stripTrailing());
    }
  }

  private static void json(StringBuilder line, ILoggingEvent event) {
    line.append("{\"ts\":\"");
    Timestamps.append(line, Instant.ofEpochMilli(event.getTimeStamp()));
    line.append("\",\"level\":\"").append(event.getLevel());
    JsonText.quote(line.append("\",\"logger\":"), event.getLoggerName());
    JsonText.quote(line.append(",\"thread\":"), event.getThreadName());
    JsonText.quote(line.append(",\"message\":"), event.getFormattedMessage());
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown != null) {
      JsonText.quote(line.append(",\"error\":"), ThrowableProxyUtil.asString(thrown));
    }
    line.append('}');
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }
}
