package dev.idempotency.gateway.store.redis;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Which master has which slots, as one node sees it. */
record ClusterMap(List<Range> ranges) {

  /** How many slots a Cluster has. */
  static final int SLOTS = 16_384;

  /** Slots of one master, the last one included. */
  record Range(int first, int last, Endpoint master) {}

  /**
   * Reads the reply to CLUSTER SLOTS: for each range its first and its last slot, then the master's
   * address, port and more, then replicas.
   *
   * @param asked the host that was asked, which stands for an address that the node does not know
   * @throws IllegalArgumentException if it is something else
   */
  static ClusterMap read(List<Object> reply, String asked) {
    List<Range> ranges = new ArrayList<>();
    for (Object part : reply) {
      if (!(part instanceof List<?> range)
          || range.size() < 3
          || !(range.get(0) instanceof Long first)
          || !(range.get(1) instanceof Long last)
          || !(range.get(2) instanceof List<?> master)
          || master.size() < 2
          || !(master.get(1) instanceof Long port)) {
        throw new IllegalArgumentException("the reply to CLUSTER SLOTS makes no sense");
      }
      if (first < 0 || first > last || last >= SLOTS || port < 1 || port > 65_535) {
        throw new IllegalArgumentException("CLUSTER SLOTS with numbers out of range");
      }
      String host = master.get(0) instanceof byte[] bytes ? Questions.text(bytes) : "";
      // A question mark: a host name is wanted that the node does not have.
      if (!host.equals("?")) {
        Endpoint endpoint = new Endpoint(host.isEmpty() ? asked : host, port.intValue());
        ranges.add(new Range(first.intValue(), last.intValue(), endpoint));
      }
    }
    return new ClusterMap(ranges);
  }

  /** All that have a slot. */
  Set<Endpoint> masters() {
    Set<Endpoint> masters = new LinkedHashSet<>();
    for (Range range : ranges) {
      masters.add(range.master());
    }
    return masters;
  }
}
