package dev.idempotency.gateway.store.redis;

/**
 * What a node says of a slot that is not, or not only, its own.
 *
 * @param isFinal whether the other node has the slot for good
 */
record Redirection(boolean isFinal, int slot, Endpoint node) {

  /**
   * Of the form {@code MOVED slot host:port} or {@code ASK slot host:port}.
   *
   * @param self the host that stands for an empty one: that of the node that says so
   * @throws IllegalArgumentException if it is of another form
   */
  static Redirection parse(String error, String self) {
    int first = error.indexOf(' ');
    int second = error.indexOf(' ', first + 1);
    if (first < 0 || second < 0) {
      throw new IllegalArgumentException("neither slot nor node");
    }
    int slot = Integer.parseInt(error, first + 1, second, 10);
    if (slot < 0 || slot >= ClusterMap.SLOTS) {
      throw new IllegalArgumentException("no such slot");
    }
    return new Redirection(
        error.startsWith("MOVED "), slot, Endpoint.parse(error.substring(second + 1), self));
  }
}
