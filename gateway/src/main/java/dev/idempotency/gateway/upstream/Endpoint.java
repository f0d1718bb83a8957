package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.UpstreamConnection;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One resolved address of an upstream, with the links of one event loop to it.
 *
 * <p>The latest used link is used first, so that those that are not needed grow old and go.
 */
final class Endpoint implements LinkOwner {

  /** What an endpoint needs of the upstream it belongs to. */
  interface Home {

    UpstreamOptions options();

    String authority();

    long nanoTime();

    boolean isClosed();

    boolean mayKeepOverdue();

    /** A place became free, or a connection went. */
    void roomLeft();

    void failed(Endpoint endpoint);

    void succeeded(Endpoint endpoint);
  }

  private final Home home;
  private final UpstreamOptions.Address named;
  private final InetSocketAddress address;
  private final Map<Link, KeptLink> open = new HashMap<>();

  /** Links without an exchange; and those with some, and places left. */
  private final ArrayDeque<KeptLink> resting = new ArrayDeque<>();

  private final ArrayDeque<KeptLink> shared = new ArrayDeque<>();
  private int connecting;
  private int exchanges;
  private boolean leaving;

  /** Whether the last link that was made had room for more than one exchange. */
  private boolean multiplexes;

  Endpoint(Home home, UpstreamOptions.Address named, InetSocketAddress address) {
    this.home = home;
    this.named = named;
    this.address = address;
    this.multiplexes = home.options().http2();
  }

  InetSocketAddress address() {
    return address;
  }

  UpstreamOptions.Address named() {
    return named;
  }

  // ---- places

  /** Exchanges under way, and connections that are being made for some. */
  int load() {
    return exchanges + connecting;
  }

  int connections() {
    return open.size() + connecting;
  }

  int restingLinks() {
    return resting.size();
  }

  /**
   * Whether {@link #take} gives something, or at least closes a stale link and so makes room for
   * another.
   */
  boolean hasPlace() {
    passOverFull();
    return !resting.isEmpty() || !shared.isEmpty();
  }

  /** Links become full by what the server says too. They come back when an exchange leaves them. */
  private void passOverFull() {
    while (!shared.isEmpty() && shared.getLast().link.isFull()) {
      shared.removeLast();
    }
  }

  /** Whether a connection is being made that will have places for others as well. */
  boolean awaitsPlaces() {
    return multiplexes && connecting > 0;
  }

  /** A place on a link that is there and well; stale ones are closed on the way. */
  @Nullable UpstreamConnection take(long now) {
    for (KeptLink kept = shared.pollLast(); kept != null; kept = shared.pollLast()) {
      UpstreamConnection taken = take(kept);
      if (taken != null) {
        return taken;
      }
    }
    for (KeptLink kept = resting.pollLast(); kept != null; kept = resting.pollLast()) {
      UpstreamConnection taken = kept.isStale(now) ? null : take(kept);
      if (taken != null) {
        return taken;
      }
      // Its place is free now, not only when the channel says that it is closed.
      discard(kept);
    }
    return null;
  }

  private @Nullable UpstreamConnection take(KeptLink kept) {
    kept.wake();
    UpstreamConnection taken = kept.link.take();
    recount(kept);
    if (taken != null && !kept.link.isFull()) {
      shared.addLast(kept);
    }
    return taken;
  }

  private void recount(KeptLink kept) {
    exchanges += kept.recount();
  }

  /** Closes a link that has no exchange. */
  private void discard(KeptLink kept) {
    open.remove(kept.link);
    exchanges -= kept.forget();
    kept.link.close();
  }

  /** Closes the link that has rested longest; says whether there was one. */
  boolean dropRest() {
    KeptLink oldest = resting.pollFirst();
    if (oldest != null) {
      discard(oldest);
    }
    return oldest != null;
  }

  // ---- new links

  void connecting() {
    connecting++;
  }

  void connectFailed() {
    connecting--;
  }

  /** A new link, whose first place is taken; null: it was lost at once. */
  @Nullable UpstreamConnection connected(Link link) {
    connecting--;
    KeptLink kept = new KeptLink(link, home.options(), home.nanoTime());
    open.put(link, kept);
    UpstreamConnection taken = take(kept);
    multiplexes = !link.isFull();
    if (taken == null) {
      discard(kept);
    }
    return taken;
  }

  // ---- what links tell

  @Override
  public UpstreamOptions options() {
    return home.options();
  }

  @Override
  public String authority() {
    return home.authority();
  }

  @Override
  public long nanoTime() {
    return home.nanoTime();
  }

  @Override
  public boolean mayKeepOverdue() {
    return home.mayKeepOverdue();
  }

  @Override
  public void released(Link link) {
    KeptLink kept = open.get(link);
    if (kept == null) {
      return;
    }
    recount(kept);
    long now = nanoTime();
    // One that is full without an exchange is never of use again.
    boolean useless = link.exchanges() == 0 && link.isFull();
    if (useless || home.isClosed() || leaving || kept.isOld(now)) {
      retire(kept);
    } else if (link.exchanges() == 0) {
      shared.remove(kept);
      if (kept.rest(now)) {
        resting.addLast(kept);
      }
    } else if (!link.isFull() && !shared.contains(kept)) {
      shared.addLast(kept);
    }
    home.roomLeft();
  }

  private void retire(KeptLink kept) {
    shared.remove(kept);
    if (kept.link.exchanges() == 0) {
      resting.remove(kept);
      discard(kept);
    } else {
      kept.retire();
    }
  }

  @Override
  public void closed(Link link) {
    KeptLink kept = open.remove(link);
    if (kept != null) {
      exchanges -= kept.forget();
      resting.remove(kept);
      shared.remove(kept);
      home.roomLeft();
    }
  }

  @Override
  public void failed(Link link) {
    home.failed(this);
  }

  @Override
  public void succeeded(Link link) {
    home.succeeded(this);
  }

  // ---- time, and the end

  void beat(long now) {
    for (int left = resting.size(); left > 0; left--) {
      KeptLink kept = resting.removeFirst();
      if (kept.isStale(now)) {
        discard(kept);
      } else {
        resting.addLast(kept);
      }
    }
    if (open.size() > resting.size()) {
      List.copyOf(open.values()).forEach(kept -> beat(kept, now));
    }
  }

  private void beat(KeptLink kept, long now) {
    if (kept.link.exchanges() == 0) {
      return;
    }
    if (kept.isOld(now)) {
      retire(kept);
    }
    kept.link.beat(now);
  }

  long overdueLinks() {
    return open.keySet().stream().filter(Link::isOverdue).count();
  }

  /** The address is the upstream's no more: what rests closes, what is busy does so afterwards. */
  void leave() {
    leaving = true;
    List.copyOf(open.values()).forEach(this::retire);
  }

  boolean isEmpty() {
    return connections() == 0;
  }
}
