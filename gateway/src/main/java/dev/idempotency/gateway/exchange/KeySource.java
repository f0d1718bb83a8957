package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.KeyInBody;

/** Where a request carries its key. */
public sealed interface KeySource {

  /** For people: "the header Idempotency-Key". */
  String place();

  /** The same with a key in it, for people: {@code Idempotency-Key: "8e03"}. */
  String example(String key);

  /**
   * A header field.
   *
   * @param name the field's name
   */
  record Header(String name) implements KeySource {
    @Override
    public String place() {
      return "the header " + name;
    }

    @Override
    public String example(String key) {
      return name + ": \"" + key + '"';
    }
  }

  /**
   * A parameter of the query.
   *
   * @param name the name as it is when percent-encoding is undone
   */
  record Query(String name) implements KeySource {
    @Override
    public String place() {
      return "the query parameter " + name;
    }

    @Override
    public String example(String key) {
      return name + '=' + key;
    }
  }

  /**
   * A member of a JSON body.
   *
   * @param pointer a JSON pointer (RFC 6901)
   */
  record Pointer(String pointer, KeyInBody body) implements KeySource {
    @Override
    public String place() {
      return "the member " + pointer + " of the body";
    }

    @Override
    public String example(String key) {
      return '"' + pointer.substring(pointer.lastIndexOf('/') + 1) + "\": \"" + key + '"';
    }
  }
}
