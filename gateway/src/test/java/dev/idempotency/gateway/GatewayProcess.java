package dev.idempotency.gateway;

import dev.idempotency.gateway.testing.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A gateway in a process of its own, that can be killed and stopped. */
final class GatewayProcess implements AutoCloseable {

  private static final Pattern LISTENING =
      Pattern.compile("^idempotency-gateway .* listening on http://127\\.0\\.0\\.1:(\\d+)");

  private final Process process;
  private final @Nullable Path file;
  private final int port;

  private GatewayProcess(Process process, @Nullable Path file, int port) {
    this.process = process;
    this.file = file;
    this.port = port;
  }

  /**
   * From the text of a configuration file without listen and admin.
   *
   * @param jvm options of the JVM, which win over the usual ones
   */
  static GatewayProcess start(String yaml, String... jvm) {
    try {
      Path file = Files.createTempFile("gateway", ".yaml");
      Files.writeString(file, "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\n" + yaml);
      return start(Map.of(), List.of(jvm), file, "--config", file.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** From the command line alone. */
  static GatewayProcess run(Map<String, String> variables, String... arguments) {
    try {
      return start(variables, List.of(), null, arguments);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static GatewayProcess start(
      Map<String, String> variables, List<String> jvm, @Nullable Path file, String... arguments)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(ProgramRun.command(jvm, arguments))
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(variables);
    Process process = builder.start();
    return new GatewayProcess(process, file, readPort(process));
  }

  private static int readPort(Process process) throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      Matcher matcher = LISTENING.matcher(line);
      if (matcher.find()) {
        return Integer.parseInt(matcher.group(1));
      }
    }
    throw new IllegalStateException(
        "the gateway ended with " + process.onExit().join().exitValue());
  }

  int port() {
    return port;
  }

  long pid() {
    return process.pid();
  }

  /** kill -9. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** SIGTERM; does not wait. */
  void terminate() {
    process.destroy();
  }

  boolean waitForEnd(int seconds) {
    try {
      return process.waitFor(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  int exitCode() {
    return process.exitValue();
  }

  /** SIGSTOP. */
  void pause() {
    signal("STOP");
  }

  /** SIGCONT. */
  void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    Signals.send(name, List.of(pid()));
  }

  @Override
  public void close() {
    kill();
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
