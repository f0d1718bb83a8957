package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import java.util.function.Consumer;

/**
 * Asks whether a caller may make a request, before anything is read from the store or written to
 * it.
 *
 * <p>Threading: called on the event loop of the exchange, and answers there, exactly once, possibly
 * before the method returns. Failure: never throws; that nobody could be asked is a decision.
 */
public interface Authorizer {

  void authorize(RequestHead head, Peer peer, Consumer<Decision> decided);

  /** What came of it. */
  sealed interface Decision {

    /**
     * The caller may.
     *
     * @param answered the header fields of the answer
     */
    record Allowed(Headers answered) implements Decision {}

    /** The caller may not, and this is what it is told: 401 or 403. */
    record Denied(Response response) implements Decision {}

    /**
     * Nobody could be asked.
     *
     * @param reason for the log and the client, without addresses
     */
    record Unavailable(String reason) implements Decision {}
  }
}
