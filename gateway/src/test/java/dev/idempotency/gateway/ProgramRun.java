package dev.idempotency.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The program in a process of its own, run to its end. */
record ProgramRun(int code, String out, String err) {

  static ProgramRun of(String... arguments) {
    return of(Map.of(), arguments);
  }

  static ProgramRun of(Map<String, String> variables, String... arguments) {
    try {
      Path out = Files.createTempFile("gateway", ".out");
      Path err = Files.createTempFile("gateway", ".err");
      try {
        ProcessBuilder builder =
            new ProcessBuilder(command(List.of(), arguments))
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().putAll(variables);
        return new ProgramRun(end(builder.start()), Files.readString(out), Files.readString(err));
      } finally {
        Files.delete(out);
        Files.delete(err);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int end(Process process) {
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IllegalStateException("the program did not end");
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static List<String> command(List<String> jvm, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-Xmx128m", "-XX:TieredStopAtLevel=1"));
    command.addAll(jvm);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add("dev.idempotency.gateway.Main");
    command.addAll(List.of(arguments));
    return command;
  }

  List<String> errLines() {
    return err.lines().toList();
  }
}
