package dev.idempotency.loadtest;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** What is broken, one at a time; each leaves behind what {@link Laboratory#heal} puts right. */
enum Fault {
  GATEWAY_KILLED,
  /** For longer than its lease. */
  GATEWAY_STOPPED,
  GATEWAY_DIES_AT_STEP,
  GATEWAY_STOPS_AT_STEP,
  /** By half a minute, forth or back, until it is started again. */
  GATEWAY_CLOCK_SHIFTED,
  REDIS_KILLED,
  REDIS_STOPPED,
  /** Killed, and started again with nothing. */
  REDIS_EMPTIED,
  REDIS_FAILED_OVER,
  /** The replica lacks what was written last. */
  REDIS_FAILED_OVER_WITH_LOSS,
  REDIS_SLOTS_MOVED,
  UPSTREAM_KILLED,
  UPSTREAM_STOPPED,
  STORE_CUT,
  STORE_SLOW,
  /** The store does what it is told and nobody hears of it. */
  STORE_ANSWERS_LOST,
  STORE_PARTITIONED,
  UPSTREAM_CUT,
  UPSTREAM_ANSWERS_LOST,
  CLIENTS_CUT,
  CLIENT_ANSWERS_LOST;

  private static final List<String> STEPS =
      List.of(
          "RESERVING",
          "RESERVED",
          "SENDING",
          "SENT",
          "RENEWED",
          "RESPONDED",
          "SETTLED",
          "ANSWERED");
  private static final int SLOW_MILLIS = 150;
  private static final long CLOCK_MILLIS = 30_000;
  private static final int MOST_OCCURRENCES = 5;

  /** The steps that a gateway may die at. */
  static List<String> steps() {
    return STEPS;
  }

  /** Whether this can happen there. */
  boolean fits(Setup setup) {
    return switch (this) {
      case GATEWAY_DIES_AT_STEP, GATEWAY_STOPS_AT_STEP, GATEWAY_CLOCK_SHIFTED -> setup.hasSteps();
      case REDIS_EMPTIED -> setup.topology() == Topology.STANDALONE;
      case REDIS_FAILED_OVER, REDIS_FAILED_OVER_WITH_LOSS -> setup.topology() == Topology.SENTINEL;
      case REDIS_SLOTS_MOVED -> setup.topology() == Topology.CLUSTER;
      default -> true;
    };
  }

  /** Whether the contract holds all the same: a route that asks for nothing may lose records. */
  boolean isSafe(Safety safety) {
    return switch (this) {
      // Keys that carry their time are compared with the gateway's clock.
      case GATEWAY_CLOCK_SHIFTED -> safety != Safety.GUARD;
      case REDIS_EMPTIED -> safety == Safety.GUARD;
      case REDIS_FAILED_OVER, REDIS_FAILED_OVER_WITH_LOSS -> safety != Safety.NONE;
      default -> true;
    };
  }

  /**
   * Breaks it, waits a while and mends it.
   *
   * @return what exactly was done
   */
  String strike(Laboratory lab, RandomGenerator random) throws IOException, InterruptedException {
    int gateway = random.nextInt(Setup.GATEWAYS);
    long millis = 200L + random.nextInt(1_500);
    long beyondLease = Laboratory.LEASE.toMillis() + 200 + random.nextInt(1_500);
    String step =
        STEPS.get(random.nextInt(STEPS.size())) + ':' + (1 + random.nextInt(MOST_OCCURRENCES));
    String where = name().toLowerCase(Locale.ROOT).replace('_', ' ');
    if (!name().startsWith("REDIS") && this != UPSTREAM_KILLED && this != UPSTREAM_STOPPED) {
      where += ", gateway " + gateway;
    }
    switch (this) {
      case GATEWAY_KILLED -> lab.restartGateway(gateway, Station.Oddity.NONE);
      case GATEWAY_STOPPED -> stop(lab.gateway(gateway).process(), beyondLease);
      case GATEWAY_DIES_AT_STEP -> {
        lab.restartGateway(gateway, Station.Oddity.at(step));
        TimeUnit.MILLISECONDS.sleep(millis + 500);
        lab.restartGateway(gateway, Station.Oddity.NONE);
        return where + " at " + step;
      }
      case GATEWAY_STOPS_AT_STEP -> {
        lab.restartGateway(gateway, Station.Oddity.at(step + ":stop"));
        TimeUnit.MILLISECONDS.sleep(beyondLease + 500);
        lab.gateway(gateway).process().signal("CONT");
        TimeUnit.MILLISECONDS.sleep(millis);
        lab.restartGateway(gateway, Station.Oddity.NONE);
        return where + " at " + step;
      }
      case GATEWAY_CLOCK_SHIFTED -> {
        long ahead = random.nextBoolean() ? CLOCK_MILLIS : -CLOCK_MILLIS;
        lab.restartGateway(gateway, Station.Oddity.ahead(ahead));
        return where + " by " + ahead + " ms";
      }
      case REDIS_KILLED -> lab.store().restart(random);
      case REDIS_STOPPED -> stop(lab.store().server(random), millis);
      case REDIS_EMPTIED -> lab.store().restartEmpty();
      case REDIS_FAILED_OVER -> lab.store().failOver(false);
      case REDIS_FAILED_OVER_WITH_LOSS -> lab.store().failOver(true);
      case REDIS_SLOTS_MOVED -> lab.store().moveSlots(random);
      case UPSTREAM_KILLED -> lab.restartOrders();
      case UPSTREAM_STOPPED -> stop(lab.orders(), beyondLease);
      case STORE_CUT -> lab.gateway(gateway).store().cut();
      case STORE_SLOW -> fail(lab.gateway(gateway).store(), Relay.Mode.SLOW, millis);
      case STORE_ANSWERS_LOST -> fail(lab.gateway(gateway).store(), Relay.Mode.NO_ANSWERS, millis);
      case STORE_PARTITIONED -> fail(lab.gateway(gateway).store(), Relay.Mode.HOLE, beyondLease);
      case UPSTREAM_CUT -> lab.gateway(gateway).upstream().cut();
      case UPSTREAM_ANSWERS_LOST ->
          fail(lab.gateway(gateway).upstream(), Relay.Mode.NO_ANSWERS, millis);
      case CLIENTS_CUT -> lab.gateway(gateway).clients().cut();
      case CLIENT_ANSWERS_LOST ->
          fail(lab.gateway(gateway).clients(), Relay.Mode.NO_ANSWERS, millis);
    }
    return where;
  }

  private static void stop(Child process, long millis) throws IOException, InterruptedException {
    process.signal("STOP");
    TimeUnit.MILLISECONDS.sleep(millis);
    process.signal("CONT");
  }

  private static void fail(Relay relay, Relay.Mode mode, long millis) throws InterruptedException {
    relay.fail(mode, SLOW_MILLIS);
    TimeUnit.MILLISECONDS.sleep(millis);
    relay.mend();
  }
}
