package dev.idempotency.loadtest;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process that can be killed, stopped and continued, and can't outlive this one.
 *
 * <p>Threading: from any one thread at a time.
 */
final class Child implements Closeable {

  /**
   * The shell holds the other end of a pipe of ours: however this process ends, the pipe closes,
   * {@code cat} returns and the child is killed. It says the child's process id first.
   */
  private static final String WATCH =
      "trap '' INT HUP; exec 3<&0; LOG=$1; shift; \"$@\" </dev/null >>\"$LOG\" 2>&1 & P=$!; echo $P;"
          + " exec >/dev/null; cat <&3 >/dev/null; kill -9 $P; wait $P";

  private static final int LAST_LINES = 20;

  private final Process watch;
  private final ProcessHandle child;
  private final Path log;

  private Child(Process watch, ProcessHandle child, Path log) {
    this.watch = watch;
    this.child = child;
    this.log = log;
  }

  /**
   * Starts it.
   *
   * @param log what it says is appended there
   */
  static Child start(Path log, List<String> command) throws IOException {
    List<String> watched = new ArrayList<>(List.of("/bin/sh", "-c", WATCH, "sh", log.toString()));
    watched.addAll(command);
    Process watch =
        new ProcessBuilder(watched).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String pid =
        new BufferedReader(new InputStreamReader(watch.getInputStream(), StandardCharsets.US_ASCII))
            .readLine();
    ProcessHandle child =
        ProcessHandle.of(Long.parseLong(pid))
            .orElseThrow(() -> new IOException(command.get(0) + " ended at once, see " + log));
    return new Child(watch, child, log);
  }

  /** What it, or the one before it, has said last. */
  String lastLines() throws IOException {
    List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
  }

  boolean isAlive() {
    return child.isAlive();
  }

  /** kill -9, and waits for the end. */
  void kill() throws IOException, InterruptedException {
    child.destroyForcibly();
    watch.getOutputStream().close();
    if (!watch.waitFor(20, TimeUnit.SECONDS)) {
      throw new IOException("process " + child.pid() + " does not end");
    }
  }

  /** {@code STOP} or {@code CONT}; one that has ended hears nothing. */
  void signal(String name) throws IOException, InterruptedException {
    if (isAlive()) {
      int code =
          new ProcessBuilder("kill", "-" + name, Long.toString(child.pid()))
              .redirectErrorStream(true)
              .start()
              .waitFor();
      if (code != 0 && isAlive()) {
        throw new IOException("kill -" + name + " gave " + code);
      }
    }
  }

  /** Whether a signal has stopped it, by the word of {@code ps}. */
  boolean isStopped() throws IOException, InterruptedException {
    Process ps = new ProcessBuilder("ps", "-o", "stat=", "-p", Long.toString(child.pid())).start();
    String state = new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    return ps.waitFor() == 0 && state.strip().startsWith("T");
  }

  @Override
  public void close() throws IOException {
    child.destroyForcibly();
    watch.getOutputStream().close();
  }
}
