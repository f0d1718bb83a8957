package dev.idempotency.gateway.idempotency;

/**
 * Something about the store that threatens what is promised.
 *
 * @param severity how much
 * @param code what, one of a fixed list; a label of a metric
 * @param text what it is, what may come of it and the fix; without secrets and without numbers that
 *     change all the time
 */
public record StoreFinding(Severity severity, String code, String text) {

  /** How much it threatens. */
  public enum Severity {
    /** Good to know. */
    NOTE,
    /** Records may be lost when something else goes wrong. */
    WARNING,
    /** What a route asks for is not given, or records may be lost any time. */
    ERROR
  }
}
