package dev.idempotency.loadtest;

import java.util.Locale;

/** What a start of the schedule sends. */
enum Kind {
  /** A new key. */
  FRESH,
  /** A key that was answered, with the same request. */
  REPLAY,
  /** A new key, several times at once. */
  DUPLICATE,
  /** A key that was answered, with another request. */
  MISMATCH;

  /** The word for it in options and reports. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
