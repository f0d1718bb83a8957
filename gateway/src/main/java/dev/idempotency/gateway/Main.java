package dev.idempotency.gateway;

import dev.idempotency.gateway.cli.OperationsCommand;
import dev.idempotency.gateway.config.Command;
import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.HostAndPort;
import dev.idempotency.gateway.demo.DemoOptions;
import dev.idempotency.gateway.demo.DemoOrders;
import dev.idempotency.gateway.operations.Logging;
import dev.idempotency.gateway.transport.SslContexts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** The command line. */
public final class Main {

  private static final String LEAK_DETECTION = "io.netty.leakDetection.level";

  private static final String NO_CONVERTERS = "picocli.converters.excludes";

  private Main() {}

  /** Starts what the arguments ask for; the process ends at SIGTERM or SIGINT. */
  public static void main(String[] arguments) {
    // Sampling leaks costs a stack trace for every hundredth buffer; tests look at every buffer.
    preset(LEAK_DETECTION, "disabled");
    // Converters of dates and databases, loaded in advance, which no option needs.
    preset(NO_CONVERTERS, "java.*");
    // Before anything that speaks TLS.
    preset(SslContexts.NO_RENEGOTIATION, "true");
    int code = run(List.of(arguments));
    if (code != 0) {
      System.exit(code);
    }
  }

  private static void preset(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }

  @SuppressWarnings("SystemOut") // the command speaks to whoever started it
  private static int run(List<String> arguments) {
    Command command = Command.parse(arguments, System.getenv(), version());
    try {
      if (command instanceof Command.Run run) {
        start(run.configuration());
      } else if (command instanceof Command.Demo demo) {
        startDemo(demo);
      } else if (command instanceof Command.Check check) {
        print(check.text());
      } else if (command instanceof Command.Operations operations) {
        return new OperationsCommand(System.getenv(), System.in, System.out, System.err)
            .run(operations.words(), version());
      } else if (command instanceof Command.Exit exit) {
        return exit(exit);
      }
      return 0;
    } catch (StartupException e) {
      System.err.println("idempotency-gateway: " + e.getMessage());
      return 1;
    }
  }

  private static int exit(Command.Exit exit) {
    if (exit.code() == 0) {
      print(exit.text());
    } else {
      System.err.println(exit.text().stripTrailing());
    }
    return exit.code();
  }

  @SuppressWarnings("SystemOut") // the one place that speaks to whoever started the process
  private static void print(String text) {
    System.out.println(text.stripTrailing());
  }

  private static String version() {
    String version = Main.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  private static void start(Configuration configuration) throws StartupException {
    stopAtSignal(startGateway(configuration), null);
  }

  private static void startDemo(Command.Demo demo) throws StartupException {
    Logging.configure(Logging.Format.TEXT, "INFO");
    HostAndPort where = demo.upstreamListen();
    DemoOptions options = demoOptions();
    DemoOrders orders;
    try {
      orders =
          DemoOrders.start(
                  new InetSocketAddress(where.host(), where.port()),
                  demo.orders() == null ? options : options.withOrders(demo.orders()))
              .toCompletableFuture()
              .join();
    } catch (CompletionException e) {
      if (demo.orders() != null && !(e.getCause() instanceof IOException)) {
        throw new StartupException(
            "orders: the database can't be used: "
                + (e.getCause() == null ? e : e.getCause()).getMessage());
      }
      throw new StartupException(
          "upstream-listen: "
              + where
              + " can't be listened on (choose another with --upstream-listen HOST:PORT)");
    }
    HostAndPort upstream = new HostAndPort(where.host(), orders.port());
    print("demo order service listening on " + upstream + " (GET /ledger counts its effects)");
    if (demo.upstreamOnly()) {
      stopAtSignal(() -> {}, orders);
      return;
    }
    stopAtSignal(startGateway(demo.gateway(upstream)), orders);
  }

  /** A ledger that has to survive the process is for laboratories: a property, not a flag. */
  private static DemoOptions demoOptions() {
    String ledger = System.getProperty("demo.ledger");
    return ledger == null
        ? DemoOptions.defaults()
        : DemoOptions.defaults().withLedgerFile(Path.of(ledger));
  }

  private static Gateway startGateway(Configuration configuration) throws StartupException {
    Logging.configure(Logging.Format.valueOf(configuration.log().format().name()), "INFO");
    Gateway gateway = Gateway.start(configuration, version());
    print("idempotency-gateway " + version() + " " + gateway.describe());
    return gateway;
  }

  /** Keeps the process alive until a signal comes; then stops in order. */
  private static void stopAtSignal(AutoCloseable first, @Nullable DemoOrders then) {
    CountDownLatch ended = new CountDownLatch(1);
    Thread stop =
        new Thread(
            () -> {
              try {
                first.close();
                if (then != null) {
                  then.close();
                }
              } catch (Exception e) {
                System.err.println("idempotency-gateway: stopping failed: " + e);
              } finally {
                Logging.stop();
                ended.countDown();
              }
            },
            "stop");
    Runtime.getRuntime().addShutdownHook(stop);
    Thread keeper =
        new Thread(
            () -> {
              try {
                ended.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "main-keeper");
    keeper.start();
  }
}
