package dev.idempotency.gateway.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * What the admin API is asked.
 *
 * @param target path and query
 * @param body of a POST; null: a GET
 */
record Question(String target, @Nullable ObjectNode body) {

  static Question get(String target) {
    return new Question(target, null);
  }

  static Question post(String target, ObjectNode body) {
    return new Question(target, body);
  }

  /** Without the body, which may hold a client's key. */
  @Override
  public String toString() {
    return (body == null ? "GET " : "POST ") + target;
  }
}
