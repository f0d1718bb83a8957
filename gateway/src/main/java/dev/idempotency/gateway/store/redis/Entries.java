package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an index said.
 *
 * @param now the time of Redis in ms
 */
record Entries(long now, List<Entry> list) {

  /**
   * An operation that is not finished.
   *
   * @param score the end of its lease, or when its outcome became unknown, in ms
   * @param name the key of its record
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Entry(long score, byte[] name) {}

  static Entries read(byte @Nullable [] reply) {
    if (reply == null) {
      throw new StoreUnavailableException("Redis replied nothing to a script");
    }
    ByteBuffer from = ByteBuffer.wrap(reply);
    long now = from.getLong();
    List<Entry> list = new ArrayList<>();
    while (from.hasRemaining()) {
      long score = from.getLong();
      byte[] name = new byte[from.getShort() & 0xffff];
      from.get(name);
      list.add(new Entry(score, name));
    }
    return new Entries(now, list);
  }

  /** Where the next page begins; null where there is none. */
  @Nullable IndexCursor next(Query query, IndexCursor from, int indexes) {
    if (list.size() == query.most()) {
      Entry last = list.get(list.size() - 1);
      return new IndexCursor(from.index(), last.score(), last.name());
    }
    return from.index() + 1 < indexes ? IndexCursor.start(from.index() + 1) : null;
  }
}
