package dev.idempotency.gateway;

import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.config.Command;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.transport.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A gateway in this process, on ports of its own. */
final class TestGateway implements AutoCloseable {

  private final Gateway gateway;

  private TestGateway(Gateway gateway) {
    this.gateway = gateway;
  }

  /** From the text of a configuration file without admin, and with or without listen. */
  static TestGateway start(String yaml) {
    return start(Transport.best(), yaml);
  }

  static TestGateway start(Transport transport, String yaml) {
    return start(transport, yaml, List.of());
  }

  /** One that others listen to as well. */
  static TestGateway start(String yaml, List<ExchangeListener> others) {
    return start(Transport.best(), yaml, others);
  }

  private static TestGateway start(
      Transport transport, String yaml, List<ExchangeListener> others) {
    try {
      Path file = Files.createTempFile("gateway", ".yaml");
      try {
        boolean listens = yaml.startsWith("listen:") || yaml.contains("\nlisten:");
        String listen = listens ? "" : "listen: 127.0.0.1:0\n";
        Files.writeString(file, listen + "admin: 127.0.0.1:0\n" + yaml);
        return start(
            transport,
            Command.parse(List.of("--config", file.toString()), Map.of(), "test"),
            others);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * One route "default" on every path.
   *
   * @param store the value of {@code store:}
   * @param route further lines of the route, each indented by four blanks
   */
  static TestGateway start(String upstreamUrl, String store, String... route) {
    return start(yaml(upstreamUrl, store, route));
  }

  static String yaml(String upstreamUrl, String store, String... route) {
    StringBuilder yaml = new StringBuilder();
    yaml.append("store: ").append(store).append('\n');
    yaml.append("drain: 1s\nthreads: 2\n");
    yaml.append("upstreams:\n  app: { url: \"").append(upstreamUrl).append("\" }\n");
    yaml.append("routes:\n  - name: default\n    path: /**\n    upstream: app\n");
    for (String line : route) {
      yaml.append("    ").append(line).append('\n');
    }
    return yaml.toString();
  }

  private static TestGateway start(
      Transport transport, Command command, List<ExchangeListener> others) {
    if (!(command instanceof Command.Run run)) {
      throw new IllegalArgumentException(command.toString());
    }
    try {
      return new TestGateway(
          Gateway.start(run.configuration(), "test", transport, System::currentTimeMillis, others));
    } catch (StartupException e) {
      throw new IllegalStateException(e);
    }
  }

  int port() {
    return gateway.port();
  }

  /** The ports of all listeners. */
  List<Integer> ports() {
    return gateway.ports();
  }

  int adminPort() {
    return gateway.adminPort();
  }

  /** The same gateway, when it can be asked something: a PostgreSQL takes a moment to prepare. */
  TestGateway ready() {
    await().atMost(Duration.ofSeconds(20)).until(this::isReady);
    return this;
  }

  /** Whether it says that requests should come. */
  boolean isReady() {
    byte[] question = RawClient.request("GET", "/readyz", null, null, null);
    return RawClient.once(gateway.adminPort(), question).status() == 200;
  }

  Gateway gateway() {
    return gateway;
  }

  @Override
  public void close() {
    gateway.close();
  }
}
