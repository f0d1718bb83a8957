package dev.idempotency.gateway;

import dev.idempotency.gateway.idempotency.StoreFinding;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Tells the log when the store goes, and the log and the deferred writes when it is back. */
final class StoreWatch {

  private static final long BEAT_MILLIS = 100;

  /** A store that is just being connected is not away yet. */
  private static final int FIRST_BEATS = 10;

  private final Stores stores;
  private final EventLoop loop;
  private final Runnable back;
  private @Nullable ScheduledFuture<?> beats;
  private int beat;
  private boolean told;
  private boolean up;
  private List<StoreFinding> found = List.of();

  StoreWatch(Stores stores, EventLoop loop, Runnable back) {
    this.stores = stores;
    this.loop = loop;
    this.back = back;
  }

  void start() {
    beats = loop.scheduleAtFixedRate(this::look, BEAT_MILLIS, BEAT_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    findings();
    boolean reachable = stores.reachable();
    beat++;
    if ((told && reachable == up) || (!told && !reachable && beat < FIRST_BEATS)) {
      return;
    }
    told = true;
    up = reachable;
    Logger log = LoggerFactory.getLogger(StoreWatch.class);
    if (reachable) {
      back.run();
      log.info("store {} is reachable: keyed requests are served", stores.describe());
    } else {
      log.warn(
          "store {} can't be reached ({}): keyed requests are refused with 503, trying on",
          stores.describe(),
          stores.detail());
    }
  }

  /** Each once when it is found, and once when it is over. */
  private void findings() {
    List<StoreFinding> now = stores.findings();
    if (now.equals(found)) {
      return;
    }
    List<StoreFinding> before = found;
    found = now;
    Logger log = LoggerFactory.getLogger(StoreWatch.class);
    for (StoreFinding finding : now) {
      if (!before.contains(finding)) {
        log.atLevel(level(finding)).log("store: {} ({})", finding.text(), finding.code());
      }
    }
    for (StoreFinding finding : before) {
      if (now.stream().noneMatch(other -> other.code().equals(finding.code()))) {
        log.info("store: no longer {}", finding.code());
      }
    }
  }

  private static Level level(StoreFinding finding) {
    return switch (finding.severity()) {
      case NOTE -> Level.INFO;
      case WARNING -> Level.WARN;
      case ERROR -> Level.ERROR;
    };
  }

  void stop() {
    if (beats != null) {
      beats.cancel(false);
    }
  }
}
