package dev.idempotency.loadtest;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds a Redis to run. */
final class RedisProgram {

  private static final List<String> NAMES = List.of("redis-server", "valkey-server");
  private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.");
  private static final int OLDEST = 7;

  private RedisProgram() {}

  /**
   * The one that is wanted; else one on the path; else the one that the class path carries, as that
   * of the tests does.
   *
   * @param wanted a program; empty for any
   * @param folder where one of the class path is unpacked
   * @throws IOException if there is none; says what to do
   */
  static Path find(String wanted, Path folder) throws IOException {
    if (!wanted.isEmpty()) {
      if (!isNewEnough(wanted)) {
        throw new IOException("--redis: " + wanted + " (expected: a Redis 7 or later)");
      }
      return Path.of(wanted);
    }
    for (String name : NAMES) {
      if (isNewEnough(name)) {
        return Path.of(name);
      }
    }
    return carried(folder);
  }

  static boolean isNewEnough(String program) {
    try {
      Process process = new ProcessBuilder(program, "--version").start();
      process.getOutputStream().close();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      Matcher version = VERSION.matcher(text);
      return version.find() && Integer.parseInt(version.group(1)) >= OLDEST;
    } catch (IOException e) {
      return false;
    }
  }

  /** The one that the class path carries, as a file. */
  static Path carried(Path folder) throws IOException {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    String name =
        "/redis-server-7.0.15-"
            + (os.startsWith("mac") ? "darwin" : "linux")
            + (arch.equals("aarch64") || arch.equals("arm64") ? "-arm64" : "-amd64");
    try (InputStream binary = RedisProgram.class.getResourceAsStream(name)) {
      if (binary == null) {
        throw new IOException(
            "no redis-server 7 or later on the path (install one, or name it with --redis)");
      }
      Path file = folder.resolve("redis-server");
      Files.copy(binary, file, StandardCopyOption.REPLACE_EXISTING);
      if (!file.toFile().setExecutable(true)) {
        throw new IOException("cannot make " + file + " executable");
      }
      return file;
    }
  }
}
