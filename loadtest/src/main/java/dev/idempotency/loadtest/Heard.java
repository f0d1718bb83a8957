package dev.idempotency.loadtest;

/**
 * One request of a laboratory run and what came of it.
 *
 * @param scope whose key it is
 * @param key the key; no other scope of the run has the same unless that is the point
 * @param original whether it asks for what the key's first request asked for
 * @param last whether it was sent after all faults were over and every lease had ended
 * @param sentAt milliseconds since the run began
 * @param endedAt the same
 * @param bypassed whether the answer says that it was forwarded without protection
 * @param answer what the client got
 */
record Heard(
    String scope,
    String key,
    boolean original,
    boolean last,
    long sentAt,
    long endedAt,
    boolean bypassed,
    Answer answer) {

  /** The operation: a key of a scope. */
  record Operation(String scope, String key) {
    @Override
    public String toString() {
      return scope + '/' + key;
    }
  }

  Operation operation() {
    return new Operation(scope, key);
  }

  /** One line of the history on disk. */
  String toLine() {
    return sentAt
        + " "
        + endedAt
        + " "
        + scope
        + " "
        + key
        + (original ? " same " : " other ")
        + (last ? "last " : "- ")
        + (bypassed ? "bypassed " : "- ")
        + answer;
  }
}
