package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.BodyBudget;
import dev.idempotency.gateway.idempotency.StoreHealth;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Where the values come from that are asked for only when somebody scrapes. */
final class Gauges {

  volatile @Nullable BodyBudget bodies;
  volatile @Nullable Readiness readiness;
  volatile @Nullable IntSupplier clientConnections;
  volatile @Nullable LongSupplier tokenKeysAge;
  volatile @Nullable LongSupplier deferredBytes;
  volatile @Nullable StoreHealth store;
  final List<IntSupplier> deferredWrites = new CopyOnWriteArrayList<>();
  final List<UpstreamPool> upstreams = new CopyOnWriteArrayList<>();
  final List<UpstreamAddresses> addresses = new CopyOnWriteArrayList<>();

  volatile @Nullable Tls tls;

  /** TLS to clients. */
  record Tls(Supplier<@Nullable Instant> expires, LongSupplier handshakes, LongSupplier reloads) {}

  /** The connections of one event loop to one upstream. */
  record UpstreamPool(String name, IntSupplier open, IntSupplier idle, IntSupplier waiting) {}

  /** What one event loop thinks of the addresses of one upstream. */
  record UpstreamAddresses(
      String name,
      IntSupplier known,
      IntSupplier ejected,
      IntSupplier unhealthy,
      LongSupplier ejections,
      LongSupplier connectFailures) {}
}
