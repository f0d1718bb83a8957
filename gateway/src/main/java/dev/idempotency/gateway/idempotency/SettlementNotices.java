package dev.idempotency.gateway.idempotency;

/**
 * Tells when the record of an operation changes, wherever that was done. A hint only: it may be
 * lost, and may come without reason, so that whoever waits looks at the record now and then all the
 * same.
 *
 * <p>Threading: called on the event loop that the store belongs to, and calls back there. Failure:
 * no method throws.
 */
public interface SettlementNotices {

  /** Ends a watch; more than once does nothing. */
  interface Registration {
    void end();
  }

  /**
   * Watches an operation.
   *
   * @param changed runs each time its record may have been settled, released or resolved, until the
   *     registration ends, and never before this method returns; once at least after the watch has
   *     really begun, so that what happened before is not missed
   */
  Registration watch(OperationId id, Runnable changed);
}
