package dev.idempotency.gateway.store.memory;

import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Page;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationRecord;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Pages through the records that are not finished. There is no index: the records are in this
 * process, and bounded.
 */
final class OpenPages {

  private static final Comparator<Found> ORDER =
      Comparator.comparingLong(Found::since).thenComparing(found -> found.id().toString());

  private final Map<OperationId, OperationRecord> records;

  OpenPages(Map<OperationId, OperationRecord> records) {
    this.records = records;
  }

  private record Found(OperationId id, OperationRecord record) {
    long since() {
      return record.openSince();
    }

    String place() {
      return since() + "." + id;
    }
  }

  Page page(Query query, long now) {
    List<Found> behind =
        open(now)
            .filter(found -> isOverdue(found.record(), query.least(), now))
            .sorted(ORDER)
            .filter(found -> isBehind(found, query.cursor()))
            .limit(query.most() + 1L)
            .toList();
    boolean more = behind.size() > query.most();
    List<Found> page = more ? behind.subList(0, query.most()) : behind;
    return new Page(
        page.stream().map(found -> operation(found, now)).toList(),
        more ? page.get(page.size() - 1).place() : "");
  }

  /** A cursor that makes no sense is no number, and everything is behind it. */
  private static boolean isBehind(Found found, String cursor) {
    if (!cursor.matches("\\d{1,18}\\.[0-9a-f]{64}")) {
      return true;
    }
    int dot = cursor.indexOf('.');
    long since = Long.parseLong(cursor.substring(0, dot));
    return found.since() > since
        || (found.since() == since
            && found.id().toString().compareTo(cursor.substring(dot + 1)) > 0);
  }

  long count(Duration least, long now) {
    return open(now).filter(found -> isOverdue(found.record(), least, now)).count();
  }

  private Stream<Found> open(long now) {
    return records.entrySet().stream()
        .filter(entry -> entry.getValue().openSince() >= 0 && entry.getValue().expiresAt() > now)
        .map(entry -> new Found(entry.getKey(), entry.getValue()));
  }

  private static boolean isOverdue(OperationRecord record, Duration least, long now) {
    return least.isNegative() || now - record.openSince() >= least.toMillis();
  }

  private static OpenOperation operation(Found found, long now) {
    Duration overdue = Duration.ofMillis(Math.max(0, now - found.since()));
    return new OpenOperation(found.id(), found.record().seenAt(now), overdue);
  }
}
