package dev.idempotency.gateway.exchange;

/**
 * A place that requests are forwarded to, with its pool of connections.
 *
 * <h2>Threading</h2>
 *
 * <p>One instance per event loop, called on it and calling back on it, possibly before the method
 * returns.
 *
 * <h2>Failure</h2>
 *
 * <p>No method throws; refusals are values. Nothing is ever sent by {@link #acquire}.
 */
public interface Upstream {

  /** Gets a live connection from the pool or a new one; answers exactly once. */
  void acquire(Acquirer acquirer);

  /** Who waits for a connection. */
  interface Acquirer {

    /** The connection is this caller's until it sends on it or gives it back. */
    void acquired(UpstreamConnection connection);

    /** There is none, and surely nothing was sent. */
    void refused(Refusal refusal);
  }

  /** Why there is no connection. Every one of these says: surely nothing was sent. */
  enum Refusal {
    /** The connection could not be made: refused, unreachable, no such host. */
    UNREACHABLE("no connection to the upstream could be made"),
    /** The connection was not there in time. */
    CONNECT_TIMEOUT("connecting to the upstream took too long"),
    /** The upstream did not prove who it is, or speaks no TLS that is spoken here. */
    TLS_FAILED("no trusted TLS connection to the upstream could be made"),
    /** All connections are busy and as many callers wait as may wait. */
    QUEUE_FULL("too many requests wait for the upstream"),
    /** No connection became free in time. */
    QUEUE_TIMEOUT("no connection to the upstream became free in time"),
    /** The gateway is stopping. */
    CLOSED("the gateway is shutting down");

    private final String text;

    Refusal(String text) {
      this.text = text;
    }

    /** For the client and the log. */
    public String text() {
      return text;
    }
  }
}
