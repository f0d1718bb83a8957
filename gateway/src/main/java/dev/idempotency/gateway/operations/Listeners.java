package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.Authorizer;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Step;
import dev.idempotency.gateway.http.RequestHead;
import java.util.List;
import java.util.function.Consumer;

/** Several listeners that are told one after the other. */
public final class Listeners implements ExchangeListener {

  private final ExchangeListener[] listeners;

  private Listeners(ExchangeListener[] listeners) {
    this.listeners = listeners;
  }

  /** Tells all of them, in this order. */
  public static ExchangeListener of(List<? extends ExchangeListener> listeners) {
    return listeners.size() == 1
        ? listeners.get(0)
        : new Listeners(listeners.toArray(new ExchangeListener[0]));
  }

  /** Tells all of them, in this order. */
  public static ExchangeListener of(ExchangeListener... listeners) {
    return of(List.of(listeners));
  }

  // The methods of every request are written out: a lambda would be garbage.

  @Override
  public void opened() {
    for (ExchangeListener listener : listeners) {
      listener.opened();
    }
  }

  @Override
  public void closed(RequestHead head, Summary summary) {
    for (ExchangeListener listener : listeners) {
      listener.closed(head, summary);
    }
  }

  @Override
  public void step(Step step) {
    for (ExchangeListener listener : listeners) {
      listener.step(step);
    }
  }

  @Override
  public void connectionRefused() {
    tell(ExchangeListener::connectionRefused);
  }

  @Override
  public void authorized(String route, Authorizer.Word word) {
    tell(listener -> listener.authorized(route, word));
  }

  @Override
  public void probed(String route, String finding) {
    tell(listener -> listener.probed(route, finding));
  }

  @Override
  public void storeWriteDeferred() {
    tell(ExchangeListener::storeWriteDeferred);
  }

  @Override
  public void deferredWriteEnded(boolean written) {
    tell(listener -> listener.deferredWriteEnded(written));
  }

  @Override
  public void deferredResponseDropped() {
    tell(ExchangeListener::deferredResponseDropped);
  }

  @Override
  public void renewalFailed() {
    tell(ExchangeListener::renewalFailed);
  }

  @Override
  public void fenced() {
    tell(ExchangeListener::fenced);
  }

  @Override
  public void storeFailed(String message) {
    tell(listener -> listener.storeFailed(message));
  }

  @Override
  public void responseUnreadable(String message) {
    tell(listener -> listener.responseUnreadable(message));
  }

  @Override
  public void bug(Throwable cause) {
    tell(listener -> listener.bug(cause));
  }

  private void tell(Consumer<ExchangeListener> event) {
    for (ExchangeListener listener : listeners) {
      event.accept(listener);
    }
  }
}
