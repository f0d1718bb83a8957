package dev.idempotency.loadtest;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A gateway and its hops.
 *
 * <p>Threading: one thread starts and ends it; its relays may be used from any.
 */
final class Station implements Closeable {

  /** What a gateway of a laboratory has that others have not. */
  record Oddity(String step, long clockMillis, String archive) {
    static final Oddity NONE = new Oddity("", 0, "");

    /** It dies or stops at that step. */
    static Oddity at(String step) {
      return new Oddity(step, 0, "");
    }

    /** Its clock is that far ahead. */
    static Oddity ahead(long clockMillis) {
      return new Oddity("", clockMillis, "");
    }

    /** When it stops it writes its classes into that file, from which others begin faster. */
    static Oddity archiving(Path file) {
      return new Oddity("", 0, file.toString());
    }

    private boolean mayEnd() {
      return !step.isEmpty();
    }
  }

  private static final String PROBE =
      "probe: { url: \"/orders/by-key/{key}\", completed: [200], never: [404], status: 201,"
          + " grace: 0s, back-off: 200ms, longest: 1s }";

  private static final String YAML =
      """
      listen: 127.0.0.1:%s
      admin: 127.0.0.1:%s
      store: { url: "%s", timeout: 500ms }
      drain: 1s
      threads: 1
      sweep: { every: 1s }
      upstreams:
        orders: { url: "http://127.0.0.1:%s", connect-timeout: 500ms, response-timeout: 3s }
      routes:
        - name: orders
          path: /orders
          upstream: orders
          idempotency: required
          scope: [ "header:Authorization" ]
          lease: %sms
          unknown: %s
          retention: 1h
          %s
          %s
      """;

  private final Setup setup;
  private final int port = Ports.free();
  private final int adminPort = Ports.free();
  private final Relay clients = Relay.to(port);
  private final LabStore.Hop store;
  private final Relay upstream;
  private final Path file;
  private final Path log;
  private Child process;
  private Oddity oddity;

  /** Starts it. */
  Station(Setup setup, Path folder, LabStore.Hop store, int orders, String policy, Oddity oddity)
      throws IOException {
    this.setup = setup;
    this.store = store;
    this.upstream = Relay.to(orders);
    this.file = folder.resolve("gateway-" + port + ".yaml");
    this.log = folder.resolve("gateway-" + port + ".log");
    Files.writeString(file, yaml(policy));
    this.oddity = oddity;
    this.process = launch();
  }

  private String yaml(String policy) {
    return YAML.formatted(
        port,
        adminPort,
        store.url(),
        upstream.port(),
        Laboratory.LEASE.toMillis(),
        policy,
        policy.equals("probe") ? PROBE : "",
        setup.safety().yaml());
  }

  private Child launch() throws IOException {
    List<String> command = new ArrayList<>(Laboratory.java());
    boolean stepped = !oddity.step().isEmpty() || oddity.clockMillis() != 0;
    if (!oddity.step().isEmpty()) {
      command.add("-Dstep=" + oddity.step());
    }
    command.add("-Dclock=" + oddity.clockMillis());
    if (oddity.archive().isEmpty()) {
      command.addAll(ClassArchive.options(setup));
      command.addAll(List.of("-cp", setup.classPath()));
    } else {
      command.add("-XX:ArchiveClassesAtExit=" + oddity.archive());
      // Folders can't be archived.
      command.addAll(List.of("-cp", setup.jar().toString()));
    }
    String main = stepped ? "SteppedMain" : "Main";
    command.addAll(List.of("dev.idempotency.gateway." + main, "--config", file.toString()));
    return Child.start(log, command);
  }

  /** Where clients reach it. */
  int port() {
    return clients.port();
  }

  int adminPort() {
    return adminPort;
  }

  Relay clients() {
    return clients;
  }

  Relay store() {
    return store.relay();
  }

  Relay upstream() {
    return upstream;
  }

  Child process() {
    return process;
  }

  /**
   * Starts it again, if it still runs after a kill.
   *
   * @return how it had ended by itself, which it must not; null if it had not
   */
  @Nullable String restart(Oddity next) throws IOException, InterruptedException {
    String ended = ended();
    process.kill();
    oddity = next;
    process = launch();
    return ended;
  }

  /** What it said last before it ended by itself; null while it runs, or was told to end. */
  @Nullable String ended() throws IOException {
    return process.isAlive() || oddity.mayEnd()
        ? null
        : "gateway " + port + " ended by itself: " + process.lastLines();
  }

  /** Whether it has stopped at its step. */
  boolean isHeld() throws IOException, InterruptedException {
    return oddity.step().endsWith(":stop") && process.isStopped();
  }

  /** Ends its faults. */
  void mend() throws IOException, InterruptedException {
    clients.mend();
    upstream.mend();
    process.signal("CONT");
  }

  @Override
  public void close() throws IOException {
    process.close();
    clients.close();
    upstream.close();
  }
}
