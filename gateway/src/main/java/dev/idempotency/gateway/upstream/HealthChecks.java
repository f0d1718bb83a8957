package dev.idempotency.gateway.upstream;

import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Asks each address of an upstream how it is, on one event loop for all of them. An address is well
 * until it was asked; at most one question to each is under way.
 *
 * <p>Threading: one event loop.
 */
final class HealthChecks {

  private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final UpstreamOptions options;
  private final HealthCheck rule;
  private final EventLoop loop;
  private final Connector connector;
  private final HealthBoard board;
  private final UpstreamListener listener;
  private final Map<InetSocketAddress, Patient> patients = new LinkedHashMap<>();
  private boolean stopped;

  HealthChecks(
      UpstreamOptions options,
      HealthCheck rule,
      EventLoop loop,
      Connector connector,
      HealthBoard board,
      UpstreamListener listener) {
    this.options = options;
    this.rule = rule;
    this.loop = loop;
    this.connector = connector;
    this.board = board;
    this.listener = listener;
  }

  /**
   * Asks from now on.
   *
   * @param endpoints the addresses there are at the moment
   */
  void start(Supplier<List<Endpoint>> endpoints) {
    if (stopped) {
      return;
    }
    long now = System.nanoTime();
    Set<InetSocketAddress> gone = new HashSet<>(patients.keySet());
    for (Endpoint endpoint : endpoints.get()) {
      gone.remove(endpoint.address());
      patients.computeIfAbsent(endpoint.address(), address -> new Patient(endpoint, now)).ask(now);
    }
    if (patients.keySet().removeAll(gone)) {
      publish();
    }
    long pause = Math.max(LEAST_PAUSE_NANOS, rule.interval().toNanos() / 10);
    Future<?> unused = loop.schedule(() -> start(endpoints), pause, TimeUnit.NANOSECONDS);
  }

  void stop() {
    stopped = true;
  }

  private void publish() {
    Set<InetSocketAddress> unhealthy = new HashSet<>();
    patients.forEach(
        (address, patient) -> {
          if (!patient.well) {
            unhealthy.add(address);
          }
        });
    board.publish(unhealthy);
  }

  /** An address, and what it answered of late. */
  private final class Patient {

    private final Endpoint endpoint;
    private boolean well = true;
    private int contrary;
    private boolean asking;
    private long due;

    /** The first question comes soon, yet not to all addresses of all gateways at once. */
    Patient(Endpoint endpoint, long now) {
      this.endpoint = endpoint;
      this.due = now + ThreadLocalRandom.current().nextLong(rule.interval().toNanos() / 10 + 1);
    }

    void ask(long now) {
      if (asking || now - due < 0) {
        return;
      }
      asking = true;
      due = now + (long) (rule.interval().toNanos() * (0.9 + 0.2 * random()));
      HealthQuestion question =
          new HealthQuestion(options, endpoint.authority(), rule, loop, this::answered);
      question.ask(connector, endpoint.address(), endpoint.named());
    }

    private double random() {
      return ThreadLocalRandom.current().nextDouble();
    }

    private void answered(boolean good) {
      asking = false;
      contrary = good == well ? 0 : contrary + 1;
      if (contrary >= (good ? rule.healthy() : rule.unhealthy()) && good != well && !stopped) {
        contrary = 0;
        well = good;
        publish();
        listener.health(options.name(), endpoint.address(), good);
      }
    }
  }
}
