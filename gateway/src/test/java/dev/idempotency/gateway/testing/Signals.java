package dev.idempotency.gateway.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Signals to processes of a test. */
public final class Signals {

  private static final String STOP = "STOP";

  private Signals() {}

  /**
   * Sends a signal such as {@code STOP}, {@code CONT} or {@code TERM}. Who is told to stop has
   * stopped when this returns: the kernel takes its time, in which an answer might slip out. Those
   * that have ended are passed over.
   */
  public static void send(String name, List<Long> pids) {
    for (long pid : pids) {
      int code = run("kill", "-" + name, Long.toString(pid)).code();
      if (code != 0 && ProcessHandle.of(pid).isPresent()) {
        throw new IllegalStateException("kill -" + name + " gave " + code);
      }
    }
    if (name.equals(STOP) && !pids.isEmpty()) {
      RedisServers.await("they have stopped", () -> pids.stream().allMatch(Signals::hasStopped));
    }
  }

  /** T is a stopped one, Z one that has ended. */
  private static boolean hasStopped(long pid) {
    String state = state(pid);
    return state.isEmpty() || state.startsWith("T") || state.startsWith("Z");
  }

  /** Empty where it is gone. */
  private static String state(long pid) {
    if (!Files.isDirectory(Path.of("/proc/self"))) {
      return run("ps", "-o", "stat=", "-p", Long.toString(pid)).text();
    }
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return stat.substring(stat.lastIndexOf(')') + 2);
    } catch (IOException e) {
      return "";
    }
  }

  private record Ended(int code, String text) {}

  private static Ended run(String... command) {
    try {
      Process process = new ProcessBuilder(command).start();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Ended(process.waitFor(), text);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
