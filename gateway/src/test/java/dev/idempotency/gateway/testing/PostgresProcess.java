package dev.idempotency.gateway.testing;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A PostgreSQL server as a child process that cannot outlive this JVM. */
final class PostgresProcess {

  /**
   * Waits on a pipe of ours, which closes however this JVM ends; then the server, whatever its
   * process id is by then, and its folder go.
   */
  private static final String WATCH =
      "trap '' INT HUP; cat >/dev/null; P=$(head -1 \"$0/postmaster.pid\" 2>/dev/null);"
          + " [ -n \"$P\" ] && kill -9 $P; rm -rf \"$0\"";

  private final Path folder;
  private final Process watch;
  private final int port;

  private PostgresProcess(Path folder, Process watch, int port) {
    this.folder = folder;
    this.watch = watch;
    this.port = port;
  }

  static PostgresProcess start(Map<String, String> wanted) {
    Map<String, String> settings = new HashMap<>(wanted);
    // As one would have it, whatever the library prefers for tests.
    settings.putIfAbsent("fsync", "on");
    settings.putIfAbsent("synchronous_commit", "on");
    settings.putIfAbsent("max_connections", "100");
    settings.putIfAbsent("shared_buffers", "32MB");
    try {
      Path folder = Files.createTempDirectory("postgres-");
      Process watch =
          new ProcessBuilder("/bin/sh", "-c", WATCH, folder.toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return new PostgresProcess(folder, watch, launch(settings, folder));
    } catch (IOException e) {
      throw new UncheckedIOException("PostgreSQL did not start", e);
    }
  }

  @SuppressWarnings("resource") // ended by its process id, as a crash would
  private static int launch(Map<String, String> settings, Path folder) throws IOException {
    EmbeddedPostgres.Builder builder =
        EmbeddedPostgres.builder()
            .setDataDirectory(folder)
            .setCleanDataDirectory(false)
            .setRegisterShutdownHook(false)
            .setErrorRedirector(ProcessBuilder.Redirect.DISCARD)
            .setOutputRedirector(ProcessBuilder.Redirect.DISCARD)
            .setPGStartupWait(Duration.ofSeconds(60));
    settings.forEach(builder::setServerConfig);
    return builder.start().getPort();
  }

  int port() {
    return port;
  }

  void kill() {
    List<ProcessHandle> all = processes();
    all.forEach(ProcessHandle::destroyForcibly);
    all.forEach(
        process -> {
          boolean unused =
              process.onExit().completeOnTimeout(process, 10, TimeUnit.SECONDS).join().isAlive();
        });
  }

  /** The same command again, which the server has written down itself. */
  void restart() {
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      // It refuses to run as root; in a namespace of its own, it is somebody else.
      command.addAll(List.of("unshare", "-U"));
    }
    command.addAll(List.of("/bin/sh", "-c", "eval exec $(cat \"$0/postmaster.opts\")"));
    command.add(folder.toString());
    try {
      Process unused =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException("PostgreSQL did not start again", e);
    }
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(this::answers);
  }

  /** The server first: what it starts until then is among its children afterwards. */
  void signal(String name) {
    List<ProcessHandle> first = processes();
    send(name, first.subList(0, Math.min(1, first.size())));
    List<ProcessHandle> all = processes();
    send(name, all.subList(Math.min(1, all.size()), all.size()));
  }

  private static void send(String name, List<ProcessHandle> processes) {
    Signals.send(name, processes.stream().map(ProcessHandle::pid).toList());
  }

  /** The server and its children, one for each connection. */
  private List<ProcessHandle> processes() {
    try {
      String pid = Files.readAllLines(folder.resolve("postmaster.pid")).get(0);
      return ProcessHandle.of(Long.parseLong(pid))
          .map(server -> Stream.concat(Stream.of(server), server.descendants()).toList())
          .orElse(List.of());
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Whether it takes connections. */
  boolean answers() {
    try (Connection connection =
        DriverManager.getConnection(
            "jdbc:postgresql://127.0.0.1:" + port + "/postgres", "postgres", "")) {
      return connection.isValid(1);
    } catch (SQLException e) {
      return false;
    }
  }

  void close() {
    kill();
    try {
      watch.getOutputStream().close();
      int unused = watch.waitFor();
    } catch (IOException e) {
      // The pipe is closed already.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    remove();
  }

  private void remove() {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException e) {
      // Gone already.
    }
  }
}
