package dev.idempotency.gateway.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Redis server as a child process that cannot outlive this JVM. */
final class RedisProcess {

  /**
   * The shell holds the other end of a pipe of ours: however this JVM ends, its end of the pipe
   * closes, {@code cat} returns and the server is killed. It says the server's process id first.
   */
  private static final String WATCH =
      "trap '' INT HUP; exec 3<&0; \"$0\" \"$@\" </dev/null >/dev/null 2>&1 & P=$!; echo $P;"
          + " cat <&3 >/dev/null; kill -9 $P; wait $P";

  private static final int START_MILLIS = 20_000;
  private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.");

  private final int port;
  private final Process watch;
  private final ProcessHandle server;

  private RedisProcess(int port, Process watch, ProcessHandle server) {
    this.port = port;
    this.watch = watch;
    this.server = server;
  }

  /** Starts a server and waits until it answers; port 0 stands for a free one. */
  static RedisProcess start(int port, List<String> options) {
    List<String> all =
        new ArrayList<>(List.of("--save", "", "--appendonly", "no", "--dir", tempFolder()));
    all.addAll(options);
    return startAny(port, all);
  }

  /**
   * Starts a sentinel and waits until it answers.
   *
   * @param file its configuration, which it writes its own state into
   */
  static RedisProcess startSentinel(Path file) {
    return startAny(0, List.of("--sentinel", file.toString()));
  }

  private static RedisProcess startAny(int port, List<String> options) {
    String trouble = "";
    for (int i = 0; i < 5; i++) {
      int chosen = port != 0 ? port : freePort();
      try {
        RedisProcess process = tryStart(chosen, options);
        if (process.awaitReady()) {
          return process;
        }
        process.kill();
        trouble = "no answer on port " + chosen;
      } catch (IOException e) {
        trouble = e.toString();
      }
    }
    throw new IllegalStateException("Redis did not start: " + trouble);
  }

  private static RedisProcess tryStart(int port, List<String> options) throws IOException {
    Path unpacked = installed() ? null : unpack();
    List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", WATCH));
    command.add(unpacked == null ? "redis-server" : unpacked.toString());
    boolean sentinel = options.get(0).equals("--sentinel");
    if (sentinel) {
      // A file's name must stand first.
      command.addAll(List.of(options.get(1), "--sentinel"));
    }
    command.addAll(List.of("--port", Integer.toString(port), "--bind", "127.0.0.1"));
    if (!sentinel) {
      // A replica puts away what it is sent, also where nothing is to be saved: under a name that
      // no other server reads when it starts, and not for long.
      command.addAll(List.of("--dbfilename", "redis-" + port + ".rdb"));
      command.addAll(List.of("--rdb-del-sync-files", "yes"));
      command.addAll(List.of("--repl-diskless-load", "on-empty-db"));
      command.addAll(options);
    }
    Process watch =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String pid =
        new BufferedReader(new InputStreamReader(watch.getInputStream(), StandardCharsets.US_ASCII))
            .readLine();
    ProcessHandle server =
        ProcessHandle.of(Long.parseLong(pid))
            .orElseThrow(() -> new IOException("it ended at once"));
    RedisProcess process = new RedisProcess(port, watch, server);
    if (unpacked != null) {
      // A program that runs needs its file no more.
      process.awaitReady();
      Files.deleteIfExists(unpacked);
    }
    return process;
  }

  private boolean awaitReady() {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MILLIS);
    while (System.nanoTime() < deadline && server.isAlive()) {
      try (RespConnection connection = new RespConnection("127.0.0.1", port)) {
        String reply = connection.call("INFO", "server");
        // Another server may have taken the port in between.
        return reply.startsWith("-")
            ? server.isAlive()
            : reply.contains("process_id:" + server.pid());
      } catch (IOException e) {
        nap();
      }
    }
    return false;
  }

  static void nap() {
    try {
      TimeUnit.MILLISECONDS.sleep(10);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  int port() {
    return port;
  }

  void kill() {
    server.destroyForcibly();
    try {
      watch.getOutputStream().close();
      // It waits for the server in turn.
      watch.waitFor();
    } catch (IOException e) {
      // The pipe is closed already.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  void signal(String name) {
    Signals.send(name, List.of(server.pid()));
  }

  /** Whether the path has a server that is new enough for SET NX GET. */
  private static boolean installed() {
    try {
      Process process = new ProcessBuilder("redis-server", "--version").start();
      process.getOutputStream().close();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      Matcher version = VERSION.matcher(text);
      return version.find() && Integer.parseInt(version.group(1)) >= 7;
    } catch (IOException e) {
      return false;
    }
  }

  private static Path unpack() throws IOException {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    String name =
        "/redis-server-7.0.15-"
            + (os.startsWith("mac") ? "darwin" : "linux")
            + (arch.equals("aarch64") || arch.equals("arm64") ? "-arm64" : "-amd64");
    Path file = Files.createTempFile("redis-server-", "");
    try (InputStream binary = RedisProcess.class.getResourceAsStream(name)) {
      if (binary == null) {
        throw new IllegalStateException(
            "no redis-server >= 7 on the path and none for " + os + " on " + arch + " on board");
      }
      Files.copy(binary, file, StandardCopyOption.REPLACE_EXISTING);
    }
    if (!file.toFile().setExecutable(true)) {
      throw new IOException("cannot make " + file + " executable");
    }
    return file;
  }

  private static String tempFolder() {
    return new File(System.getProperty("java.io.tmpdir")).getAbsolutePath();
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
