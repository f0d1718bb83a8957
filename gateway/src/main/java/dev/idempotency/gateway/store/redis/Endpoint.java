package dev.idempotency.gateway.store.redis;

/** Where a server listens: a name or an address as Redis says it, and a port. */
record Endpoint(String host, int port) {

  /**
   * Of the form {@code host:port}; the last colon counts, as Redis puts no brackets around IPv6.
   *
   * @param self the host that stands for an empty one
   * @throws IllegalArgumentException if it is of another form
   */
  static Endpoint parse(String text, String self) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException("no port");
    }
    int port = Integer.parseInt(text, colon + 1, text.length(), 10);
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("no such port");
    }
    return new Endpoint(colon == 0 ? self : text.substring(0, colon), port);
  }

  /** Such as {@code 10.0.0.1:6379}. */
  @Override
  public String toString() {
    return host + ":" + port;
  }
}
