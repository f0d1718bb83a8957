package dev.idempotency.gateway.store.memory;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.OperationRecord;
import dev.idempotency.gateway.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/** What records weigh on the heap, in bytes; an estimate that errs on the heavy side. */
final class Weight {

  /** Map entry, id, token, fingerprint and the record itself, with object headers. */
  static final long RECORD = 512;

  private static final long FIELD = 112;

  private Weight() {}

  static long of(@Nullable OperationRecord record) {
    if (record == null) {
      return 0;
    }
    return record instanceof OperationRecord.Completed completed
        ? RECORD + of(completed.response())
        : RECORD;
  }

  static long of(StoredResponse response) {
    return response.body().length + of(response.headers()) + of(response.trailers());
  }

  private static long of(Headers headers) {
    long sum = 64;
    for (int i = 0; i < headers.size(); i++) {
      sum += FIELD + headers.name(i).length() + headers.value(i).length();
    }
    return sum;
  }
}
