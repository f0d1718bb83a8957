package dev.idempotency.loadtest;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
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
  private static final int SHOWN = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final PrintStream out;

  @Option(names = "--seed", description = "of faults and requests (default: by chance)")
  private long seed = new SecureRandom().nextLong() >>> 16;

  @Option(names = "--duration", description = "in seconds (default: ${DEFAULT-VALUE})")
  private double duration = 60;

  @Option(names = "--unknown", description = "hold or retry (default: ${DEFAULT-VALUE})")
  private String unknown = "hold";

  @Option(names = "--clients", description = "how many (default: ${DEFAULT-VALUE})")
  private int clients = 8;

  @Option(
      names = "--gateway",
      description =
          "class path of the gateway; with its test classes it also dies at steps"
              + " (default: ${DEFAULT-VALUE})")
  private String gateway =
      "gateway/target/idempotency-gateway.jar" + File.pathSeparator + "gateway/target/test-classes";

  @Option(names = "--keep", description = "a folder for history, ledger and logs (default: none)")
  private String keep = "";

  LabCommand(PrintStream out) {
    this.out = out;
  }

  @Override
  public Integer call() throws InterruptedException {
    try {
      HistoryChecker.Policy policy =
          HistoryChecker.Policy.valueOf(unknown.toUpperCase(Locale.ROOT));
      if (policy == HistoryChecker.Policy.PROBE || clients < 1 || duration <= 0) {
        throw new IllegalArgumentException(
            "--unknown hold or retry, --clients 1 or more, --duration above 0");
      }
      return inFolder(policy);
    } catch (IllegalArgumentException | IOException | ExecutionException e) {
      out.println("not run: " + (e.getMessage() == null ? e : e.getMessage()));
      return NOT_RUN;
    }
  }

  private int inFolder(HistoryChecker.Policy policy)
      throws IOException, InterruptedException, ExecutionException {
    if (!keep.isEmpty()) {
      return run(Files.createDirectories(Path.of(keep)).toAbsolutePath(), policy);
    }
    Path folder = Files.createTempDirectory("laboratory-");
    try {
      return run(folder, policy);
    } finally {
      remove(folder);
    }
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
  }

  private int run(Path folder, HistoryChecker.Policy policy)
      throws IOException, InterruptedException, ExecutionException {
    out.println(
        "seed " + seed + ", " + duration + " s, " + clients + " clients, unknown: " + unknown);
    Path ledger;
    List<Heard> heard;
    try (Laboratory lab = new Laboratory(folder, gateway, unknown);
        History history = new History(folder.resolve("history.txt"))) {
      ledger = lab.ledger();
      play(lab, history, policy);
      heard = history.all();
    }
    Map<String, Effects> happened = Effects.read(ledger);
    return judge(heard, happened, new HistoryChecker(policy, false).check(heard, happened));
  }

  private void play(Laboratory lab, History history, HistoryChecker.Policy policy)
      throws IOException, InterruptedException, ExecutionException {
    HttpClient http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();
    RandomGenerator random = new SplittableRandom(seed);
    List<LabClient> all = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      boolean misleading = policy == HistoryChecker.Policy.HOLD;
      all.add(new LabClient(lab, http, history, "c" + i, misleading, random.nextLong()));
    }
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      long until = System.nanoTime() + (long) (duration * 1e9);
      List<Future<?>> running = each(threads, all, client -> client.run(until));
      strike(lab, history, new SplittableRandom(seed + 1), until);
      await(running);
      lab.heal();
      await(each(threads, all, client -> client.settle(Laboratory.LEASE.plus(PATIENCE))));
    } finally {
      threads.shutdownNow();
    }
  }

  private static List<Future<?>> each(
      ExecutorService threads, List<LabClient> clients, Consumer<LabClient> task) {
    List<Future<?>> running = new ArrayList<>();
    for (LabClient client : clients) {
      running.add(threads.submit(() -> task.accept(client)));
    }
    return running;
  }

  private static void await(List<Future<?>> running)
      throws InterruptedException, ExecutionException {
    for (Future<?> one : running) {
      one.get();
    }
  }

  private void strike(Laboratory lab, History history, RandomGenerator random, long until)
      throws IOException, InterruptedException {
    boolean steps = hasSteps();
    Fault[] faults =
        Arrays.stream(Fault.values())
            .filter(fault -> steps || !fault.needsSteps())
            .toArray(Fault[]::new);
    Map<Fault, Integer> counts = new EnumMap<>(Fault.class);
    while (System.nanoTime() - until < 0) {
      Fault fault = faults[random.nextInt(faults.length)];
      long begin = history.now();
      String done = fault.strike(lab, random);
      out.println(String.format(Locale.ROOT, "%7d ms  %s", begin, done));
      counts.merge(fault, 1, Integer::sum);
      TimeUnit.MILLISECONDS.sleep(100 + random.nextInt(600));
    }
    out.println("faults: " + counts);
  }

  private boolean hasSteps() {
    for (String part : gateway.split(File.pathSeparator, -1)) {
      if (Files.exists(Path.of(part, "dev/idempotency/gateway/SteppedMain.class"))) {
        return true;
      }
    }
    return false;
  }

  private int judge(List<Heard> heard, Map<String, Effects> happened, List<Violation> violations) {
    long told =
        heard.stream()
            .filter(one -> one.answer() instanceof Answer.Response r && r.isSuccess())
            .count();
    long operations = heard.stream().map(Heard::operation).distinct().count();
    long held =
        heard.stream()
            .filter(
                one ->
                    one.last()
                        && one.answer() instanceof Answer.Response response
                        && "outcome-unknown".equals(response.problem()))
            .count();
    out.println(
        "requests "
            + heard.size()
            + ", operations "
            + operations
            + ", answered with success "
            + told
            + ", held as unknown in the end "
            + held
            + ", effects "
            + happened.values().stream().mapToLong(Effects::effects).sum());
    for (Violation violation : violations.subList(0, Math.min(SHOWN, violations.size()))) {
      out.println(
          "VIOLATION " + violation.rule() + ", " + violation.key() + ": " + violation.seen());
    }
    out.println(violations.isEmpty() ? "verdict: PASS" : "verdict: FAIL, " + violations.size());
    return violations.isEmpty() ? HELD : BROKEN;
  }
}
