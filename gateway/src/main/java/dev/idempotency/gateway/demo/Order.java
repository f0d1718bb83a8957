package dev.idempotency.gateway.demo;

/**
 * An order that was created.
 *
 * @param id its name, unique within this process
 * @param createdAt when, as an ISO 8601 instant
 * @param execution the how manieth of its key: anything above 1 is an order too many
 * @param received the length of the request's body in bytes
 */
record Order(String id, String createdAt, long execution, int received) {

  /** The order as JSON without its closing brace, so that padding can follow. */
  String toOpenJson() {
    return "{\"id\":"
        + Json.quote(id)
        + ",\"created_at\":"
        + Json.quote(createdAt)
        + ",\"execution\":"
        + execution
        + ",\"received\":"
        + received;
  }

  String toJson() {
    return toOpenJson() + '}';
  }
}
