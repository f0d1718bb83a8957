package dev.idempotency.gateway.store.memory;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.OpenOperations.Entry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is kept beside a record.
 *
 * @param holder the token of the record that was claimed for a probe last; null where none was
 * @param until until when, in ms of the store's clock
 * @param tries how often it was
 * @param history what was resolved from outside, the latest last
 * @param latest the token of the latest resolution
 * @param expiresAt when it may be forgotten, in ms of the store's clock
 */
record Companion(
    @Nullable AttemptToken holder,
    long until,
    int tries,
    List<Entry> history,
    @Nullable AttemptToken latest,
    long expiresAt) {

  private static final int LONGEST = 32;

  static final Companion NONE = new Companion(null, 0, 0, List.of(), null, 0);

  /** How often the attempt with that token was claimed. */
  int triesOf(AttemptToken asked) {
    return asked.equals(holder) ? tries : 0;
  }

  Companion claimed(AttemptToken asked, long end, long life) {
    return new Companion(
        asked, end, triesOf(asked) + 1, history, latest, Math.max(expiresAt, life));
  }

  Companion with(Entry entry, AttemptToken token, long life) {
    List<Entry> entries = new ArrayList<>(history);
    entries.add(entry);
    List<Entry> kept = entries.subList(Math.max(0, entries.size() - LONGEST), entries.size());
    return new Companion(holder, until, tries, List.copyOf(kept), token, Math.max(expiresAt, life));
  }
}
