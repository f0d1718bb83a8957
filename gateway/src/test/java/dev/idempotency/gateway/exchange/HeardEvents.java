package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes down what exchanges tell; a bug fails the test at once. */
final class HeardEvents implements ExchangeListener {

  private final List<String> events = new ArrayList<>();
  private final List<Throwable> bugs = new ArrayList<>();
  private final List<Summary> closed = new ArrayList<>();

  /** What must not be. */
  List<Throwable> bugs() {
    return bugs;
  }

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

  /** What would have become of them, in order; null where they became that. */
  List<@Nullable Result> wouldBe() {
    return closed.stream().map(Summary::wouldBe).collect(Collectors.toList());
  }

  @Override
  public void opened() {}

  @Override
  public void closed(RequestHead head, Summary summary) {
    closed.add(summary);
  }

  @Override
  public void authorized(String route, Authorizer.Word word) {
    events.add(route + ' ' + word.label());
  }

  @Override
  public void probed(String route, String finding) {
    events.add("probed " + finding);
  }

  @Override
  public void storeWriteDeferred() {
    events.add("deferred");
  }

  @Override
  public void deferredResponseDropped() {
    events.add("response dropped");
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
    // A stage that it is thrown in keeps it.
    bugs.add(cause);
    throw new AssertionError(cause);
  }
}
