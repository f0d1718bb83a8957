package dev.idempotency.gateway.operations;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What one logger says meanwhile; nobody else hears it. */
final class CapturedLog implements AutoCloseable {

  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
  private final Logger logger;
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          events.add(event);
        }
      };

  CapturedLog(String name) {
    logger = (Logger) LoggerFactory.getLogger(name);
    appender.setContext(logger.getLoggerContext());
    appender.start();
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    logger.addAppender(appender);
  }

  List<ILoggingEvent> events() {
    return events;
  }

  List<String> messages() {
    return events.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setAdditive(true);
    logger.setLevel(null);
  }
}
