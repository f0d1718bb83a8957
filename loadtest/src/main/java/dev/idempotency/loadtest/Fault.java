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
  REDIS_KILLED,
  REDIS_STOPPED,
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
  private static final int MOST_OCCURRENCES = 5;

  /** The steps that a gateway may die at. */
  static List<String> steps() {
    return STEPS;
  }

  boolean needsSteps() {
    return this == GATEWAY_DIES_AT_STEP || this == GATEWAY_STOPS_AT_STEP;
  }

  /**
   * Breaks it, waits a while and mends it.
   *
   * @return what exactly was done
   */
  String strike(Laboratory lab, RandomGenerator random) throws IOException, InterruptedException {
    int gateway = random.nextInt(Laboratory.GATEWAYS);
    long millis = 200L + random.nextInt(1_500);
    long beyondLease = Laboratory.LEASE.toMillis() + 200 + random.nextInt(1_500);
    String step =
        STEPS.get(random.nextInt(STEPS.size())) + ':' + (1 + random.nextInt(MOST_OCCURRENCES));
    String where = word() + " gateway " + gateway;
    switch (this) {
      case GATEWAY_KILLED -> lab.restartGateway(gateway, "");
      case GATEWAY_STOPPED -> stop(lab.gateway(gateway), beyondLease);
      case GATEWAY_DIES_AT_STEP -> {
        lab.restartGateway(gateway, step);
        TimeUnit.MILLISECONDS.sleep(millis + 500);
        lab.restartGateway(gateway, "");
        return where + " at " + step;
      }
      case GATEWAY_STOPS_AT_STEP -> {
        lab.restartGateway(gateway, step + ":stop");
        TimeUnit.MILLISECONDS.sleep(beyondLease + 500);
        lab.gateway(gateway).signal("CONT");
        TimeUnit.MILLISECONDS.sleep(millis);
        lab.restartGateway(gateway, "");
        return where + " at " + step;
      }
      case REDIS_KILLED -> lab.restartRedis();
      case REDIS_STOPPED -> stop(lab.redis(), millis);
      case UPSTREAM_KILLED -> lab.restartOrders();
      case UPSTREAM_STOPPED -> stop(lab.orders(), beyondLease);
      case STORE_CUT -> lab.store(gateway).cut();
      case STORE_SLOW -> fail(lab.store(gateway), Relay.Mode.SLOW, millis);
      case STORE_ANSWERS_LOST -> fail(lab.store(gateway), Relay.Mode.NO_ANSWERS, millis);
      case STORE_PARTITIONED -> fail(lab.store(gateway), Relay.Mode.HOLE, beyondLease);
      case UPSTREAM_CUT -> lab.upstream(gateway).cut();
      case UPSTREAM_ANSWERS_LOST -> fail(lab.upstream(gateway), Relay.Mode.NO_ANSWERS, millis);
      case CLIENTS_CUT -> lab.clients(gateway).cut();
      case CLIENT_ANSWERS_LOST -> fail(lab.clients(gateway), Relay.Mode.NO_ANSWERS, millis);
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
    relay.pass();
    relay.cut();
  }

  private String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ') + ',';
  }
}
