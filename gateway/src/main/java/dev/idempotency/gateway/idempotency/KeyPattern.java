package dev.idempotency.gateway.idempotency;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a route demands of its keys beyond their being keys.
 *
 * <p>Threading: safe from any thread, returns at once. Failure: never throws.
 */
public interface KeyPattern {

  /** Every key. */
  KeyPattern ANY =
      new KeyPattern() {
        @Override
        public String expected() {
          return "any key";
        }

        @Override
        public boolean matches(String key) {
          return true;
        }
      };

  /** What is expected, for people: "a UUID of version 7". */
  String expected();

  boolean matches(String key);

  /** A regular expression that says the same, for programs; null where there is none. */
  default @Nullable String regex() {
    return null;
  }

  /** When a key that matches was made, as it says itself; null where it does not say. */
  default @Nullable Instant madeAt(String key) {
    return null;
  }
}
