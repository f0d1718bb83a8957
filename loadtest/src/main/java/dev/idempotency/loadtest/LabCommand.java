package dev.idempotency.loadtest;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The fault laboratory. Exit codes: 0 all promises held, 1 one was broken, 2 it could not be run.
 */
@Command(
    name = "idempotency-loadtest lab",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Breaks things around three gateways by a seeded schedule and checks the contract.")
final class LabCommand implements Callable<Integer> {

  private static final int HELD = 0;
  private static final int BROKEN = 1;
  private static final int NOT_RUN = 2;

  private final PrintStream out;

  @Option(names = "--seed", description = "of faults and requests (default: by chance)")
  private long seed = new SecureRandom().nextLong() >>> 16;

  @Option(names = "--duration", description = "in seconds (default: ${DEFAULT-VALUE})")
  private double duration = 60;

  @Option(
      names = "--unknown",
      description =
          "what the route does with an unknown outcome: hold, retry or probe"
              + " (default: ${DEFAULT-VALUE})")
  private HistoryChecker.Policy unknown = HistoryChecker.Policy.HOLD;

  @Option(
      names = "--topology",
      description =
          "of Redis: standalone, sentinel (a primary, a replica, three sentinels) or cluster"
              + " (three masters) (default: ${DEFAULT-VALUE})")
  private Topology topology = Topology.STANDALONE;

  @Option(
      names = "--safety",
      description =
          "what the route asks for: none, replicas (writes must reach one) or guard (what a loss"
              + " may have forgotten is refused); default: replicas with sentinel, else none")
  private Safety[] safety = {};

  @Option(
      names = "--faults",
      split = ",",
      description =
          "only these, such as GATEWAY_KILLED,REDIS_EMPTIED"
              + " (default: all that the contract survives there)")
  private List<Fault> faults = List.of();

  @Option(names = "--clients", description = "how many (default: ${DEFAULT-VALUE})")
  private int clients = 8;

  @Option(
      names = "--gateway",
      description =
          "class path of the gateway; with its test classes it also dies at steps"
              + " (default: ${DEFAULT-VALUE})")
  private String gateway =
      "gateway/target/idempotency-gateway.jar" + File.pathSeparator + "gateway/target/test-classes";

  @Option(names = "--redis", description = "the program (default: the one on the path)")
  private String redis = "";

  @Option(
      names = "--orders",
      description =
          "postgresql://… for the orders, which are left there: needed by probe; with it, retry"
              + " has an upstream that dedupes by the key (default: in memory)")
  private String orders = "";

  @Option(names = "--keep", description = "a folder for history, ledger and logs (default: none)")
  private String keep = "";

  LabCommand(PrintStream out) {
    this.out = out;
  }

  /** The command, which takes {@code standalone} for {@link Topology#STANDALONE} and so on. */
  static CommandLine line(PrintStream out) {
    return new CommandLine(new LabCommand(out)).setCaseInsensitiveEnumValuesAllowed(true);
  }

  @Override
  public Integer call() throws InterruptedException {
    try {
      check();
      return inFolder();
    } catch (IllegalArgumentException
        | IllegalStateException
        | IOException
        | ExecutionException e) {
      out.println("not run: " + (e.getMessage() == null ? e : e.getMessage()));
      return NOT_RUN;
    }
  }

  private void check() {
    if (clients < 1 || duration <= 0) {
      throw new IllegalArgumentException("--clients 1 or more, --duration above 0");
    }
    if (unknown == HistoryChecker.Policy.PROBE && orders.isEmpty()) {
      throw new IllegalArgumentException(
          "--unknown probe: only a service with a database can say what happened (add --orders"
              + " postgresql://…)");
    }
    if (safety() == Safety.REPLICAS && topology != Topology.SENTINEL) {
      throw new IllegalArgumentException(
          "--safety replicas: only --topology sentinel has a replica");
    }
  }

  private Safety safety() {
    if (safety.length > 0) {
      return safety[0];
    }
    return topology == Topology.SENTINEL ? Safety.REPLICAS : Safety.NONE;
  }

  private int inFolder() throws IOException, InterruptedException, ExecutionException {
    if (!keep.isEmpty()) {
      return run(Files.createDirectories(Path.of(keep)).toAbsolutePath());
    }
    Path folder = Files.createTempDirectory("laboratory-");
    try {
      return run(folder);
    } finally {
      remove(folder);
    }
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
  }

  private int run(Path folder) throws IOException, InterruptedException, ExecutionException {
    Setup setup =
        new Setup(
            gateway,
            Setup.three(unknown),
            topology,
            safety(),
            RedisProgram.find(redis, folder),
            orders);
    List<Fault> striking = striking(setup);
    out.println(
        "seed "
            + seed
            + ", "
            + duration
            + " s, "
            + clients
            + " clients, unknown "
            + word(unknown)
            + ", Redis "
            + word(topology)
            + ", safety "
            + word(safety()));
    LabRun.Plan plan = new LabRun.Plan(seed, duration, clients, striking);
    return new LabRun(plan, setup, unknown, out).run(folder).isEmpty() ? HELD : BROKEN;
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private List<Fault> striking(Setup setup) {
    List<Fault> fitting = Stream.of(Fault.values()).filter(fault -> fault.fits(setup)).toList();
    if (faults.isEmpty()) {
      return fitting.stream().filter(fault -> fault.isSafe(setup.safety())).toList();
    }
    for (Fault fault : faults) {
      if (!fitting.contains(fault)) {
        throw new IllegalArgumentException("--faults: " + fault + " does not fit the rest");
      }
    }
    return faults;
  }
}
