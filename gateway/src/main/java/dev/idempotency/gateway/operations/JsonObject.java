package dev.idempotency.gateway.operations;

import java.util.List;

/** A JSON object while it is written; members stay in their order. */
final class JsonObject {

  private final StringBuilder json = new StringBuilder(256).append('{');

  private StringBuilder name(String name) {
    if (json.length() > 1) {
      json.append(',');
    }
    return JsonText.quote(json, name).append(':');
  }

  JsonObject text(String name, String value) {
    JsonText.quote(name(name), value);
    return this;
  }

  JsonObject number(String name, long value) {
    name(name).append(value);
    return this;
  }

  JsonObject truth(String name, boolean value) {
    name(name).append(value);
    return this;
  }

  /** A value that is JSON already. */
  JsonObject raw(String name, String value) {
    name(name).append(value);
    return this;
  }

  JsonObject array(String name, List<String> values) {
    name(name).append('[').append(String.join(",", values)).append(']');
    return this;
  }

  @Override
  public String toString() {
    return json + "}";
  }
}
