package dev.idempotency.gateway.exchange;

import java.util.Locale;

/** How an exchange ended, for metrics and logs. The names are stable. */
public enum Result {
  /** Not keyed, passed through. */
  PASSED,
  /** Forwarded, its response kept. */
  COMPLETED,
  /** Forwarded, its response given to the client and not kept. */
  NOT_KEPT,
  /** Forwarded, and the upstream said that nothing happened. */
  RELEASED,
  /** Forwarded, and what came of it is not known. */
  UNKNOWN,
  /** Answered from the record. */
  REPLAYED,
  /** 409: the operation is in flight. */
  IN_FLIGHT,
  /** 409: the operation's outcome is unknown. */
  HELD,
  /** 409: the operation's response was not kept. */
  GONE,
  /** 422: the key belongs to another request. */
  KEY_REUSED,
  /** 400: there is no key. */
  KEY_MISSING,
  /** 400: the key is malformed. */
  KEY_INVALID,
  /** 412: the key is so old that its record may be gone. */
  KEY_EXPIRED,
  /** 400: the request is malformed. */
  BAD_REQUEST,
  /** 401: the identity that the scope needs is missing. */
  IDENTITY_MISSING,
  /** 401: the identity that the scope needs is not proven. */
  IDENTITY_INVALID,
  /** 401, 403: the authorisation service said no. */
  DENIED,
  /** 503: nobody could be asked who the caller is or what it may do. */
  AUTHORIZATION_UNAVAILABLE,
  /** 429: the caller has begun, or has unfinished, as many operations as it may. */
  QUOTA_EXCEEDED,
  /** 404: no route takes the request. */
  NO_ROUTE,
  /** 413: the body is too large. */
  TOO_LARGE,
  /** 503: the store did not answer. */
  STORE_UNAVAILABLE,
  /** 503: the store may have forgotten operations a moment ago. */
  STORE_RECOVERING,
  /** Forwarded without protection, because the store did not answer and the route says so. */
  BYPASSED,
  /** 502, 503: surely not sent, or surely not processed. */
  NOT_SENT,
  /** 503: no memory or no place is left. */
  OVERLOADED,
  /** 503: the gateway is stopping. */
  SHUTTING_DOWN,
  /** 502, 504: passed through and failed. */
  UPSTREAM_FAILED,
  /** The client went before its request was whole, or before a passed response was. */
  CLIENT_GONE;

  private final String label = name().toLowerCase(Locale.ROOT);

  /**
   * Whether the gateway decided so instead of forwarding, and a gateway that only observes forwards
   * all the same. What a plain proxy would answer too is not such a thing.
   */
  boolean isIntervention() {
    return switch (this) {
      case PASSED,
          COMPLETED,
          NOT_KEPT,
          RELEASED,
          UNKNOWN,
          BAD_REQUEST,
          NO_ROUTE,
          NOT_SENT,
          SHUTTING_DOWN,
          UPSTREAM_FAILED,
          CLIENT_GONE ->
          false;
      default -> true;
    };
  }

  /** The value of the metrics label. */
  public String label() {
    return label;
  }
}
