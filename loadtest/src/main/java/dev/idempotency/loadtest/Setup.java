package dev.idempotency.loadtest;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * What a laboratory is built of.
 *
 * @param classPath of the gateway; with its test classes a gateway also dies at steps and has
 *     another clock
 * @param policies hold, retry or probe, for each gateway
 * @param topology of Redis
 * @param safety of the route
 * @param redis the program
 * @param orders {@code postgresql://…} for the demo service; empty: it keeps its orders in memory
 *     and answers no probe
 */
record Setup(
    String classPath,
    List<String> policies,
    Topology topology,
    Safety safety,
    Path redis,
    String orders) {

  static final int GATEWAYS = 3;

  private static final String STEPPED = "dev/idempotency/gateway/SteppedMain.class";

  Setup {
    policies = List.copyOf(policies);
  }

  /** One Redis, orders in memory. */
  static Setup standalone(String classPath, List<String> policies, Path redis) {
    return new Setup(classPath, policies, Topology.STANDALONE, Safety.NONE, redis, "");
  }

  /** Three gateways that do the same with an unknown outcome. */
  static List<String> three(HistoryChecker.Policy policy) {
    return Collections.nCopies(GATEWAYS, policy.name().toLowerCase(Locale.ROOT));
  }

  /** What the class path begins with. */
  Path jar() {
    int end = classPath.indexOf(File.pathSeparatorChar);
    return Path.of(end < 0 ? classPath : classPath.substring(0, end));
  }

  /** Whether gateways can be told to die at a step, and what time it is. */
  boolean hasSteps() {
    for (String part : classPath.split(File.pathSeparator, -1)) {
      if (Files.exists(Path.of(part, STEPPED))) {
        return true;
      }
    }
    return false;
  }
}
