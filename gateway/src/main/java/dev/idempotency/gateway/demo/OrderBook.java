package dev.idempotency.gateway.demo;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Creates orders and keeps the latest.
 *
 * <p>Threading: from any thread.
 */
final class OrderBook {

  private final Ledger ledger;
  private final AtomicLong created = new AtomicLong();
  private final Map<String, Order> latest;

  OrderBook(Ledger ledger, int keptOrders) {
    this.ledger = ledger;
    this.latest =
        Collections.synchronizedMap(
            new LinkedHashMap<>() {
              @Override
              protected boolean removeEldestEntry(Map.Entry<String, Order> eldest) {
                return size() > keptOrders;
              }
            });
  }

  /** The effect: what must happen once per operation. */
  Order create(@Nullable String key, int received) {
    String id = "ord-" + created.incrementAndGet();
    long execution = ledger.effect(key, id);
    Order order = new Order(id, Instant.now().toString(), execution, received);
    latest.put(id, order);
    return order;
  }

  @Nullable Order find(String id) {
    return latest.get(id);
  }

  /** At most {@code most} of the orders that are kept, the latest last. */
  List<Order> latest(int most) {
    synchronized (latest) {
      List<Order> orders = new ArrayList<>(latest.values());
      return orders.subList(Math.max(0, orders.size() - most), orders.size());
    }
  }
}
