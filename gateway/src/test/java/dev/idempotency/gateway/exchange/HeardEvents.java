package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.RequestHead;
import java.util.ArrayList;
import java.util.List;

/** Writes down what exchanges tell; a bug fails the test at once. */
final class HeardEvents implements ExchangeListener {

  private final List<String> events = new ArrayList<>();
  private final List<Summary> closed = new ArrayList<>();

  List<String> events() {
    return events;
  }

  /** How the exchanges ended, in order. */
  List<Result> results() {
    return closed.stream().map(Summary::result).toList();
  }

  /** Whether their keys were derived, in order. */
  List<Boolean> derived() {
    return closed.stream().map(Summary::derived).toList();
  }

  @Override
  public void opened() {}

  @Override
  public void closed(RequestHead head, Summary summary) {
    closed.add(summary);
  }

  @Override
  public void storeWriteDeferred() {
    events.add("deferred");
  }

  @Override
  public void deferredWriteEnded(boolean written) {
    events.add(written ? "written" : "given up");
  }

  @Override
  public void renewalFailed() {
    events.add("renewal failed");
  }

  @Override
  public void fenced() {
    events.add("fenced");
  }

  @Override
  public void storeFailed(String message) {}

  @Override
  public void bug(Throwable cause) {
    throw new AssertionError(cause);
  }
}
