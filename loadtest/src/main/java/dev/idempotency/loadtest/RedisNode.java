package dev.idempotency.loadtest;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * One Redis server that keeps what it has acknowledged on disk, in a folder of its own, and can be
 * killed and started again.
 *
 * <p>Threading: confined to one thread.
 */
final class RedisNode implements Closeable {

  private static final List<String> KEEPS =
      List.of(
          "--save",
          "",
          "--appendonly",
          "yes",
          // What was acknowledged survives a kill: without it, losing records would be allowed.
          "--appendfsync",
          "always",
          "--repl-diskless-sync-delay",
          "0");

  private final Path program;
  private final Path folder;
  private final int port = Ports.free();
  private Child process;

  private RedisNode(Path program, Path folder, List<String> options) throws IOException {
    this.program = program;
    this.folder = Files.createDirectories(folder);
    this.process = launch(options);
  }

  /** Starts one. */
  static RedisNode start(Path program, Path folder, List<String> options)
      throws IOException, InterruptedException {
    RedisNode node = new RedisNode(program, folder, options);
    node.awaitReady();
    return node;
  }

  private Child launch(List<String> options) throws IOException {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of("--port", Integer.toString(port), "--bind", "127.0.0.1"));
    command.addAll(List.of("--dir", folder.toString()));
    command.addAll(KEEPS);
    command.addAll(options);
    return Child.start(folder.resolve("redis.log"), command);
  }

  int port() {
    return port;
  }

  Child process() {
    return process;
  }

  String call(String... command) throws IOException {
    return Resp.call(port, command);
  }

  boolean says(String text, String... command) {
    return Resp.says(port, text, command);
  }

  /** Kills it and starts it again with what is on its disk. */
  void restart(List<String> options) throws IOException, InterruptedException {
    process.kill();
    process = launch(options);
    awaitReady();
  }

  /** Kills it and starts it again with nothing. */
  void restartEmpty(List<String> options) throws IOException, InterruptedException {
    process.kill();
    try (Stream<Path> files = Files.walk(folder.resolve("appendonlydir"))) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
    restart(options);
  }

  /** Loading what is on the disk is not ready yet. */
  private void awaitReady() throws IOException, InterruptedException {
    Until.holds(
        "Redis is ready, see " + folder.resolve("redis.log"),
        () -> {
          if (!process.isAlive()) {
            throw new IllegalStateException("Redis ended: " + process.lastLines());
          }
          return says("loading:0", "INFO", "persistence");
        });
  }

  @Override
  public void close() throws IOException {
    process.close();
  }
}
