package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreFinding;
import io.lettuce.core.cluster.SlotHash;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of commands to the masters of a Cluster: each to the one that has its slot, over a link
 * of its own.
 *
 * <p>A node that no longer has a slot refers to the one that has it now (MOVED), or to the one that
 * is about to get it (ASK); the command goes there at once, within its deadline, and is never sent
 * behind the back of a caller who was told that it failed. Where the keys of one command are just
 * on their way from one node to another (TRYAGAIN) it is sent again after a pause.
 *
 * <p>A node that cannot be reached costs only the operations of its slots; the others are told by
 * and by which replica has taken its place.
 *
 * <p>Threading: as {@link Link}; the rest is confined to the event loop.
 */
final class ClusterLink extends LoopLink implements RedisLink.Neighbours, Topology.Listener {

  private static final Logger log = LoggerFactory.getLogger(ClusterLink.class);

  private static final int LIMIT = RedisLink.LIMIT;

  /** So often a command is referred on at once; from then on with pauses. */
  private static final int AT_ONCE = 4;

  private static final long PAUSE_MILLIS = 20;

  private final LoopClient client;
  private final KeyNames names;
  private final Duration deadline;
  private final Terms terms;
  private final Topology topology;
  private final Tick tick;

  /** Links to masters and to those that are about to become one. */
  private final Map<Endpoint, RedisLink> links = new HashMap<>();

  private final Set<Endpoint> superfluous = new HashSet<>();

  /** By slot; null where no master is known. */
  private final @Nullable RedisLink[] owners = new RedisLink[ClusterMap.SLOTS];

  /** Commands that wait until it is known for the first time where the slots are. */
  private final ArrayDeque<Call<?>> waiting = new ArrayDeque<>();

  private volatile ClusterHealth health = ClusterHealth.BEGINNING;
  private boolean promising = true;
  private boolean closed;

  ClusterLink(EventLoop loop, LoopClient client, KeyNames names, Terms terms) {
    super(loop);
    this.client = client;
    this.names = names;
    this.terms = terms;
    this.deadline = terms.deadline();
    this.topology = new Topology(loop, client, deadline, this);
    this.tick = new Tick(loop, deadline.toNanos() / 8, this::onTick);
  }

  @Override
  public void open() {
    loop.execute(topology::start);
  }

  @Override
  public boolean reachable() {
    return health.reachable();
  }

  @Override
  public String detail() {
    return health.detail();
  }

  @Override
  public List<StoreFinding> findings() {
    return health.findings();
  }

  @Override
  public long evictions() {
    return health.evictions();
  }

  @Override
  public long sinceLoss(byte[] key) {
    RedisLink owner = owners[SlotHash.getSlot(key)];
    // Without an owner nothing is executed either.
    return owner == null ? Long.MAX_VALUE : owner.sinceLoss(key);
  }

  @Override
  void end() {
    closed = true;
    promising = false;
    health = ClusterHealth.trouble("closed");
    topology.close();
    links.values().forEach(RedisLink::close);
    failWaiting("the store is closed");
  }

  @Override
  void accept(Call<?> call) {
    if (!health.isKnown() && promising) {
      hold(call);
    } else {
      route(call);
    }
  }

  private void hold(Call<?> call) {
    if (waiting.size() >= LIMIT) {
      call.fail("Redis is too slow: " + LIMIT + " commands are waiting");
    } else {
      call.dueIn(deadline.toNanos());
      waiting.add(call);
      tick.start();
    }
  }

  /** To the master that has its slot, as far as is known. */
  private void route(Call<?> call) {
    int slot = SlotHash.getSlot(call.key());
    RedisLink owner = owners[slot];
    if (owner != null && !closed) {
      call.asking = false;
      owner.accept(call);
    } else if (closed) {
      call.fail("the store is closed");
    } else {
      topology.refresh();
      call.fail(
          health.isKnown()
              ? "no master of the Redis Cluster has slot " + slot
              : "Redis cannot be reached: " + detail());
    }
  }

  @Override
  public boolean refused(RedisLink link, Call<?> call, String error) {
    if (Refusal.isRedirection(error)) {
      return redirect(link, call, error);
    }
    if (Refusal.isTryAgain(error)) {
      call.notExecuted(error);
      later(call, () -> route(call));
      return true;
    }
    return false;
  }

  /** MOVED or ASK, the slot, and the other node. */
  private boolean redirect(RedisLink link, Call<?> call, String error) {
    Redirection to;
    try {
      to = Redirection.parse(error, host(link));
    } catch (IllegalArgumentException e) {
      return false;
    }
    call.notExecuted(error);
    if (to.isFinal()) {
      owners[to.slot()] = link(to.node());
      topology.refresh();
    }
    Runnable follow =
        () -> {
          call.asking = !to.isFinal();
          link(to.node()).accept(call);
        };
    if (call.refusals > AT_ONCE) {
      later(call, follow);
    } else {
      follow.run();
    }
    return true;
  }

  private String host(RedisLink link) {
    for (Map.Entry<Endpoint, RedisLink> entry : links.entrySet()) {
      if (entry.getValue() == link) {
        return entry.getKey().host();
      }
    }
    throw new IllegalArgumentException("a node that is no longer one");
  }

  /** After a pause; the link that it came from watches its deadline meanwhile. */
  private void later(Call<?> call, Runnable sending) {
    ScheduledFuture<?> unused =
        loop.schedule(
            () -> {
              if (closed) {
                call.fail("the store is closed");
              } else if (!call.isDone()) {
                sending.run();
              }
            },
            PAUSE_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  @Override
  public void unreachable() {
    if (!closed) {
      topology.refresh();
    }
  }

  private RedisLink link(Endpoint node) {
    return links.computeIfAbsent(node, this::open);
  }

  private RedisLink open(Endpoint node) {
    NodeTarget target = new NodeTarget(client, node, this::probeKey);
    RedisLink link = new RedisLink(loop, target, terms, this);
    link.open();
    return link;
  }

  /** A name in a slot that the node has, where it has one. */
  private byte[] probeKey(Endpoint node) {
    RedisLink link = links.get(node);
    for (int bucket = 0; bucket < KeyNames.BUCKETS; bucket++) {
      byte[] key = names.probe(bucket);
      if (link != null && owners[SlotHash.getSlot(key)] == link) {
        return key;
      }
    }
    return names.probe(0);
  }

  @Override
  public boolean learned(ClusterMap map) {
    Arrays.fill(owners, null);
    for (ClusterMap.Range range : map.ranges()) {
      Arrays.fill(owners, range.first(), range.last() + 1, link(range.master()));
    }
    Set<Endpoint> masters = map.masters();
    retire(masters);
    Map<Endpoint, RedisLink> serving = new HashMap<>(links);
    serving.keySet().retainAll(masters);
    if (!health.nodes().keySet().equals(masters)) {
      log.info("Redis Cluster of {} masters: {}", masters.size(), masters);
    }
    health = ClusterHealth.of(serving, unserved());
    promising = false;
    while (!waiting.isEmpty()) {
      Call<?> call = waiting.poll();
      if (!call.isDone()) {
        route(call);
      }
    }
    return serving.values().stream().noneMatch(RedisLink::isDown) && unserved() == 0;
  }

  /** How many buckets no master has. */
  private int unserved() {
    int unserved = 0;
    for (int bucket = 0; bucket < KeyNames.BUCKETS; bucket++) {
      if (owners[SlotHash.getSlot(names.probe(bucket))] == null) {
        unserved++;
      }
    }
    return unserved;
  }

  /** Who is not a master for the second time is left; nothing is under way to it any more. */
  private void retire(Set<Endpoint> masters) {
    for (Endpoint former : List.copyOf(superfluous)) {
      RedisLink link = links.get(former);
      if (!masters.contains(former) && link != null && link.isIdle()) {
        links.remove(former);
        CompletionStage<Void> unused = link.close();
      }
    }
    superfluous.clear();
    superfluous.addAll(links.keySet());
    superfluous.removeAll(masters);
  }

  @Override
  public void failed(String why) {
    promising = false;
    if (!health.isKnown()) {
      health = ClusterHealth.trouble(why);
      failWaiting("Redis cannot be reached: " + why);
    }
  }

  private void failWaiting(String why) {
    while (!waiting.isEmpty()) {
      waiting.poll().fail(why);
    }
  }

  private boolean onTick(long now) {
    while (!waiting.isEmpty() && (waiting.peek().isDone() || waiting.peek().due - now <= 0)) {
      waiting.poll().expire("where the slots of Redis are was not known within the deadline");
    }
    return !waiting.isEmpty();
  }
}
