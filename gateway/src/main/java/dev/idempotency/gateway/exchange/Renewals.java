package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.util.function.Consumer;

/** Renews the lease of one attempt in the store. */
final class Renewals {

  private final Exchanges exchanges;
  private final Lease lease;

  Renewals(Exchanges exchanges, Lease lease) {
    this.exchanges = exchanges;
    this.lease = lease;
  }

  /** Whether the lease is surely alive, and for some time. */
  boolean isSure() {
    return lease.isSure(exchanges.scheduler.nanoTime());
  }

  boolean isDue(long now) {
    return lease.isDue(now);
  }

  /**
   * Asks once; exactly one of the three hears what came of it.
   *
   * @param lost another attempt holds the record
   * @param failed the store did not say; the lease may be alive
   */
  void renew(
      Reservation reservation, Runnable renewed, Consumer<StoredOperation> lost, Runnable failed) {
    lease.asked();
    long sentAt = exchanges.scheduler.nanoTime();
    Stages.when(
        exchanges.store.renew(reservation),
        reply -> {
          if (reply instanceof WriteReply.Fenced fenced) {
            lease.lost();
            lost.accept(fenced.current());
          } else {
            lease.renewed(sentAt);
            renewed.run();
          }
        },
        unavailable -> {
          exchanges.listener.renewalFailed();
          lease.failed(exchanges.scheduler.nanoTime());
          failed.run();
        },
        exchanges.listener);
  }
}
