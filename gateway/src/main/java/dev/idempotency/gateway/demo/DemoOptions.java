package dev.idempotency.gateway.demo;

import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How the demo upstream is set up.
 *
 * @param ledgerFile where each attempt and each effect is appended as one JSON line; null for none
 * @param trackedKeys about how many keys the ledger counts one by one, 0 or more; later keys are
 *     counted in sum only. A key takes some 150 bytes
 * @param keptOrders how many of the latest orders can be read back, 1 or more
 * @param orders {@code postgresql://user[:password]@host[:port]/database}, where orders with a key
 *     are then kept together with their answers; null for in memory
 */
public record DemoOptions(
    @Nullable Path ledgerFile, int trackedKeys, int keptOrders, @Nullable URI orders) {

  public DemoOptions {
    if (trackedKeys < 0) {
      throw new IllegalArgumentException("trackedKeys: " + trackedKeys + " (expected: >= 0)");
    }
    if (keptOrders < 1) {
      throw new IllegalArgumentException("keptOrders: " + keptOrders + " (expected: >= 1)");
    }
  }

  /** In memory. */
  public DemoOptions(@Nullable Path ledgerFile, int trackedKeys, int keptOrders) {
    this(ledgerFile, trackedKeys, keptOrders, null);
  }

  /** No file, a million keys, the latest ten thousand orders. */
  public static DemoOptions defaults() {
    return new DemoOptions(null, 1_000_000, 10_000);
  }

  /** The same with a ledger file; an existing one is appended to. */
  public DemoOptions withLedgerFile(Path file) {
    return new DemoOptions(file, trackedKeys, keptOrders, orders);
  }

  /** The same with orders in a database. */
  public DemoOptions withOrders(URI database) {
    return new DemoOptions(ledgerFile, trackedKeys, keptOrders, database);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "DemoOptions[" + ledgerFile + ", " + trackedKeys + ", " + keptOrders + "]";
  }
}
