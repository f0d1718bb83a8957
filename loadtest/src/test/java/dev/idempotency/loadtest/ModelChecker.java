package dev.idempotency.loadtest;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Runs TLC on the model of an operation, in a process of its own and in a folder that goes. */
final class ModelChecker {

  private static final String SPECIFICATION = "Operation.tla";
  private static final Pattern GUARD = Pattern.compile("(?m)^  ([A-Z]\\w+),? +\\\\\\*.*$");
  private static final Pattern VIOLATED =
      Pattern.compile("Error: (?:Invariant|Action property) (\\w+) is violated");
  private static final Pattern STATES =
      Pattern.compile("([\\d,]+) distinct states found, 0 states");

  /**
   * What is checked.
   *
   * @param policy what a route does with an unknown outcome
   * @param tries how many requests there are
   * @param failovers how many at most
   * @param outages whether a completion may find the store away
   * @param without the guard that is taken away; empty for none
   */
  record Bounds(String policy, int tries, int failovers, boolean outages, String without) {
    @Override
    public String toString() {
      return policy
          + ", "
          + tries
          + " tries, "
          + failovers
          + " failovers"
          + (outages ? ", outages" : "")
          + (without.isEmpty() ? "" : ", without " + without);
    }
  }

  /**
   * What TLC says.
   *
   * @param violated the property that does not hold; empty where all hold
   * @param states how many different states there are; 0 where the search ended early
   * @param text its whole output
   */
  record Verdict(String violated, long states, String text) {}

  private final String specification;
  private final List<String> guards;

  ModelChecker() throws IOException {
    try (InputStream text = ModelChecker.class.getResourceAsStream("/model/" + SPECIFICATION)) {
      specification = new String(text.readAllBytes(), StandardCharsets.UTF_8);
    }
    // Behind the constants that are bounds and no guards.
    int from = specification.indexOf("AtomicReserve,");
    String constants =
        "  " + specification.substring(from, specification.indexOf("VARIABLES", from));
    guards = GUARD.matcher(constants).results().map(found -> found.group(1)).toList();
  }

  /** The names of all guards, in the order of the specification. */
  List<String> guards() {
    return guards;
  }

  Verdict check(Bounds bounds, List<String> invariants, List<String> properties)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("model-");
    try {
      Files.writeString(folder.resolve(SPECIFICATION), specification);
      Files.writeString(folder.resolve("run.cfg"), settings(bounds, invariants, properties));
      return run(folder);
    } finally {
      try (Stream<Path> files = Files.walk(folder)) {
        files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
      }
    }
  }

  private String settings(Bounds bounds, List<String> invariants, List<String> properties) {
    List<String> tries =
        IntStream.rangeClosed(1, bounds.tries()).mapToObj(number -> "t" + number).toList();
    List<String> lines = new ArrayList<>();
    lines.add("SPECIFICATION Spec\nSYMMETRY Symmetry\nCHECK_DEADLOCK FALSE\nCONSTANTS");
    tries.forEach(name -> lines.add(" " + name + " = " + name));
    lines.add(" Tries = {" + String.join(", ", tries) + "}\n None = None\n Operator = Operator");
    lines.add(" Policy = \"" + bounds.policy() + "\"");
    lines.add(" MaxFailovers = " + bounds.failovers());
    lines.add(" Outages = " + tla(bounds.outages()));
    guards.forEach(guard -> lines.add(" " + guard + " = " + tla(!guard.equals(bounds.without()))));
    invariants.forEach(name -> lines.add("INVARIANT " + name));
    properties.forEach(name -> lines.add("PROPERTY " + name));
    return String.join("\n", lines) + "\n";
  }

  private static String tla(boolean value) {
    return value ? "TRUE" : "FALSE";
  }

  private static Verdict run(Path folder) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx512m",
                "-cp",
                jar(),
                "tlc2.TLC",
                "-workers",
                "1",
                "-metadir",
                folder.resolve("states").toString(),
                "-config",
                "run.cfg",
                SPECIFICATION)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    try {
      process.getOutputStream().close();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return verdict(process.waitFor(), text);
    } finally {
      process.destroyForcibly();
    }
  }

  /** TLC ends with 0, or with 12 or 13 for a violated invariant or property. */
  private static Verdict verdict(int code, String text) {
    Matcher violated = VIOLATED.matcher(text);
    Matcher states = STATES.matcher(text);
    if (code == 0 && states.find()) {
      return new Verdict("", Long.parseLong(states.group(1).replace(",", "")), text);
    }
    if ((code == 12 || code == 13) && violated.find()) {
      return new Verdict(violated.group(1), 0, text);
    }
    throw new IllegalStateException("TLC ended with " + code + ":\n" + text);
  }

  private static String jar() {
    try {
      Class<?> program = Class.forName("tlc2.TLC", false, ModelChecker.class.getClassLoader());
      return Path.of(program.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (ClassNotFoundException | URISyntaxException e) {
      throw new IllegalStateException("the model checker is not on the class path", e);
    }
  }
}
