package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.ExchangeListener;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs what goes wrong, of each kind one line in a second with the number of those left out: a
 * store that is away fails thousands of times a second.
 *
 * <p>Threading: safe from any thread.
 */
public final class FailureLog implements ExchangeListener {

  private static final Logger LOG = LoggerFactory.getLogger(FailureLog.class);

  private final Sparingly storeFailures;
  private final Sparingly dropped;
  private final Sparingly unkept;
  private final Sparingly fenced;
  private final Sparingly unreadable;
  private final Sparingly bugs;
  private final Set<String> unaskable = ConcurrentHashMap.newKeySet();

  public FailureLog() {
    this(System::nanoTime);
  }

  FailureLog(LongSupplier nanoTime) {
    storeFailures = new Sparingly(nanoTime);
    dropped = new Sparingly(nanoTime);
    unkept = new Sparingly(nanoTime);
    fenced = new Sparingly(nanoTime);
    unreadable = new Sparingly(nanoTime);
    bugs = new Sparingly(nanoTime);
  }

  @Override
  public void storeFailed(String message) {
    storeFailures.run(more -> LOG.warn("The store failed: {}{}", message, others(more)));
  }

  @Override
  public void deferredWriteEnded(boolean written) {
    if (!written) {
      dropped.run(
          more ->
              LOG.warn(
                  "A write to the store was given up, too many wait already: the operation's"
                      + " outcome becomes unknown when its lease ends{}",
                  others(more)));
    }
  }

  @Override
  public void deferredResponseDropped() {
    unkept.run(
        more ->
            LOG.warn(
                "The store is away and limits.backlog is full of responses to be stored: the record"
                    + " will say that the operation is done, and duplicates get no replay (409"
                    + " response-not-kept){}",
                others(more)));
  }

  @Override
  public void fenced() {
    fenced.run(
        more ->
            LOG.warn(
                "An attempt found that another one holds its record and answered from that{}",
                others(more)));
  }

  @Override
  public void responseUnreadable(String message) {
    unreadable.run(
        more ->
            LOG.warn(
                "Duplicates get no replay (409 response-not-kept): {}{}", message, others(more)));
  }

  /** Once for each route: an operation that can't be asked about is found again and again. */
  @Override
  public void probed(String route, String finding) {
    if (finding.equals(UNASKABLE) && unaskable.add(route)) {
      LOG.warn(
          "Route {}: an operation stays unknown, as its key or path can't be put safely into"
              + " probe.url (a slash, a dot segment, no UTF-8); the query of a URL takes more",
          route);
    }
  }

  @Override
  public void bug(Throwable cause) {
    bugs.run(more -> LOG.error("A bug, please report it{}", others(more), cause));
  }

  private static String others(long suppressed) {
    return suppressed == 0 ? "" : " (and " + suppressed + " more before this one)";
  }
}
