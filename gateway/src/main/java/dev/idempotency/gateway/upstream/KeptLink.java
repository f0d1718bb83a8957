package dev.idempotency.gateway.upstream;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** A link with what its endpoint knows of it: its age, its rest, its exchanges as counted. */
final class KeptLink {

  final Link link;
  private final UpstreamOptions options;
  private final long lifeEnd;
  private long restingSince;
  private boolean resting;
  private int counted;
  private boolean retired;

  KeptLink(Link link, UpstreamOptions options, long now) {
    this.link = link;
    this.options = options;
    this.lifeEnd = now + life(options.connectionLife());
  }

  /** Give or take a tenth, so that connections that were made together don't end together. */
  private static long life(Duration about) {
    long tenth = about.toNanos() / 10;
    return about.toNanos() + ThreadLocalRandom.current().nextLong(-tenth, tenth + 1);
  }

  /** Says whether the rest begins now: it must be in the pool's row of resting links once only. */
  boolean rest(long now) {
    boolean begins = !resting;
    resting = true;
    restingSince = now;
    return begins;
  }

  /** It is taken, or tried. */
  void wake() {
    resting = false;
  }

  /** Whether it rested, or lived, too long to be used again. */
  boolean isStale(long now) {
    return now - restingSince >= options.idleTimeout().toNanos() || isOld(now);
  }

  boolean isOld(long now) {
    return !options.connectionLife().isZero() && now - lifeEnd >= 0;
  }

  /** How many more exchanges it has than at the last count. */
  int recount() {
    int before = counted;
    counted = link.exchanges();
    return counted - before;
  }

  /** It counts no more; says how many exchanges it had at the last count. */
  int forget() {
    int before = counted;
    counted = 0;
    return before;
  }

  /** Lets the exchanges end and no new one begin. */
  void retire() {
    if (!retired) {
      retired = true;
      link.retire();
    }
  }
}
