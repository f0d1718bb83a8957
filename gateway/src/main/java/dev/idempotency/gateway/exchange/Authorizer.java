package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import java.util.Locale;
import java.util.Set;
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

  /**
   * Names, in small letters, of the fields of an answer that go upstream; what a client sends under
   * them never does.
   */
  Set<String> copied();

  /** What came of it. */
  sealed interface Decision {

    /**
     * The caller may.
     *
     * @param answered the fields of the answer that somebody wants
     */
    record Allowed(Headers answered) implements Decision {}

    /** The caller may not, and this is what it is told: 401 or 403. */
    record Denied(Response response) implements Decision {}

    /**
     * Nobody could be asked.
     *
     * @param reason for the client, without addresses
     * @param open whether the request goes on all the same
     */
    record Unavailable(String reason, boolean open) implements Decision {}
  }

  /** What was said of a request, for metrics. The names are stable. */
  enum Word {
    /** The service said yes. */
    ALLOWED,
    /** It had said yes to an equal request a moment ago. */
    REMEMBERED,
    /** It said no. */
    DENIED,
    /** It could not be asked, and the request was refused. */
    UNAVAILABLE,
    /** It could not be asked, and the request went on. */
    LET_THROUGH;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The value of the metrics label. */
    public String label() {
      return label;
    }
  }
}
