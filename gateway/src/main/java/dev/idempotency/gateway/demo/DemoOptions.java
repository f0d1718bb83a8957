package dev.idempotency.gateway.demo;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How the demo upstream is set up.
 *
 * @param ledgerFile where each attempt and each effect is appended as one JSON line; null for none
 * @param trackedKeys about how many keys the ledger counts one by one, 0 or more; later keys are
 *     counted in sum only. A key takes some 150 bytes
 * @param keptOrders how many of the latest orders can be read back, 1 or more
 */
public record DemoOptions(@Nullable Path ledgerFile, int trackedKeys, int keptOrders) {

  public DemoOptions {
    if (trackedKeys < 0) {
      throw new IllegalArgumentException("trackedKeys: " + trackedKeys + " (expected: >= 0)");
    }
    if (keptOrders < 1) {
      throw new IllegalArgumentException("keptOrders: " + keptOrders + " (expected: >= 1)");
    }
  }

  /** No file, a million keys, the latest ten thousand orders. */
  public static DemoOptions defaults() {
    return new DemoOptions(null, 1_000_000, 10_000);
  }

  /** The same with a ledger file; an existing one is appended to. */
  public DemoOptions withLedgerFile(Path file) {
    return new DemoOptions(file, trackedKeys, keptOrders);
  }
}
