package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Command;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.Step;
import dev.idempotency.gateway.transport.Transport;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The gateway, which dies or stops at a step of an exchange: at its n-th {@code -Dstep=SENDING:3}
 * it halts, or with {@code -Dstep=SENDING:3:stop} stops until somebody continues it. With {@code
 * -Dclock=30000} its clock is that many milliseconds ahead.
 */
final class SteppedMain {

  private SteppedMain() {}

  public static void main(String[] arguments) throws StartupException, InterruptedException {
    Command command = Command.parse(List.of(arguments), System.getenv(), "stepped");
    if (!(command instanceof Command.Run run)) {
      throw new IllegalArgumentException("expected: what runs a gateway");
    }
    long ahead = Long.getLong("clock", 0);
    Gateway gateway =
        Gateway.start(
            run.configuration(),
            "stepped",
            Transport.best(),
            () -> System.currentTimeMillis() + ahead,
            endings());
    Runtime.getRuntime().addShutdownHook(new Thread(gateway::close));
    // The gateway's own threads let a process end.
    new CountDownLatch(1).await();
  }

  private static List<ExchangeListener> endings() {
    String step = System.getProperty("step");
    if (step == null) {
      return List.of();
    }
    String[] at = step.split(":", -1);
    return List.of(
        new Ending(Step.valueOf(at[0]), new AtomicInteger(Integer.parseInt(at[1])), at.length > 2));
  }

  /** Ends the process in the middle of the step: nothing that follows it is done. */
  private record Ending(Step step, AtomicInteger left, boolean stops) implements ExchangeListener {
    @Override
    public void step(Step now) {
      if (now == step && left.decrementAndGet() == 0) {
        if (stops) {
          stop();
        } else {
          Runtime.getRuntime().halt(137);
        }
      }
    }

    /** Waits for the signal's effect: the exchange goes on after it, not before. */
    private static void stop() {
      try {
        new ProcessBuilder("kill", "-STOP", Long.toString(ProcessHandle.current().pid()))
            .start()
            .waitFor();
      } catch (IOException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
