package dev.idempotency.loadtest;

import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** One run of the laboratory: clients that send, faults that strike, and what came of it. */
final class LabRun {

  /**
   * What happens in it.
   *
   * @param seed of faults and requests
   * @param seconds for how long faults strike
   * @param clients how many
   * @param faults those that strike
   */
  record Plan(long seed, double seconds, int clients, List<Fault> faults) {}

  private static final Duration PATIENCE = Duration.ofSeconds(15);
  private static final int SHOWN = 20;

  private final Plan plan;
  private final Setup setup;
  private final HistoryChecker.Policy policy;
  private final PrintStream out;

  LabRun(Plan plan, Setup setup, HistoryChecker.Policy policy, PrintStream out) {
    this.plan = plan;
    this.setup = setup;
    this.policy = policy;
    this.out = out;
  }

  /**
   * Runs it and prints what is done, and the verdict.
   *
   * @return the promises that were broken
   */
  List<Violation> run(Path folder) throws IOException, InterruptedException, ExecutionException {
    List<Heard> heard;
    Map<String, Effects> happened;
    List<Violation> violations;
    try (Laboratory lab = new Laboratory(folder, setup);
        History history = new History(folder.resolve("history.txt"))) {
      play(lab, history);
      heard = history.all();
      happened = happened(lab, heard);
      violations = new ArrayList<>(lab.ended());
    }
    violations.addAll(new HistoryChecker(policy, allowed()).check(heard, happened));
    tell(heard, happened, violations);
    return violations;
  }

  private HistoryChecker.Allowance[] allowed() {
    List<HistoryChecker.Allowance> allowed = new ArrayList<>();
    if (setup.safety() == Safety.GUARD) {
      allowed.add(HistoryChecker.Allowance.GUARD);
    }
    if (policy == HistoryChecker.Policy.RETRY && setup.orders().isEmpty()) {
      allowed.add(HistoryChecker.Allowance.EFFECT_PER_ATTEMPT);
    }
    return allowed.toArray(HistoryChecker.Allowance[]::new);
  }

  private void play(Laboratory lab, History history)
      throws IOException, InterruptedException, ExecutionException {
    HttpClient http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();
    RandomGenerator random = new SplittableRandom(plan.seed());
    List<LabClient> clients = new ArrayList<>();
    // A database may have the orders of earlier runs.
    String run = setup.orders().isEmpty() ? "key" : Long.toString(System.currentTimeMillis(), 36);
    for (int i = 0; i < plan.clients(); i++) {
      String name = run + '-' + i;
      clients.add(new LabClient(lab, http, history, name, policy, random.nextLong()));
    }
    ExecutorService threads = Executors.newFixedThreadPool(plan.clients());
    try {
      long until = System.nanoTime() + (long) (plan.seconds() * 1e9);
      List<Future<?>> running = each(threads, clients, client -> client.run(until));
      strike(lab, history, until);
      await(running);
      lab.heal();
      await(each(threads, clients, client -> client.settle(Laboratory.LEASE.plus(PATIENCE))));
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

  private void strike(Laboratory lab, History history, long until)
      throws IOException, InterruptedException {
    RandomGenerator random = new SplittableRandom(plan.seed() + 1);
    Map<Fault, Integer> counts = new EnumMap<>(Fault.class);
    while (System.nanoTime() - until < 0) {
      Fault fault = plan.faults().get(random.nextInt(plan.faults().size()));
      long begin = history.now();
      String done = fault.strike(lab, random);
      out.println(String.format(Locale.ROOT, "%7d ms  %s", begin, done));
      counts.merge(fault, 1, Integer::sum);
      TimeUnit.MILLISECONDS.sleep(100 + random.nextInt(600));
    }
    out.println("faults: " + counts);
  }

  /** What the ledger says, and the order service where that was killed before it wrote it down. */
  private Map<String, Effects> happened(Laboratory lab, List<Heard> heard)
      throws IOException, InterruptedException {
    Map<String, Effects> ledger = Effects.read(lab.ledger());
    if (setup.orders().isEmpty()) {
      return ledger;
    }
    Map<String, Effects> all = new HashMap<>(ledger);
    for (Heard one : heard) {
      Effects known = all.getOrDefault(one.key(), Effects.NONE);
      if (isSuccess(one) && known.effects() == 0 && lab.hasOrder(one.key())) {
        all.put(one.key(), new Effects(1, known.numbers()));
      }
    }
    return all;
  }

  private static boolean isSuccess(Heard one) {
    return one.answer() instanceof Answer.Response response && response.isSuccess();
  }

  private void tell(List<Heard> heard, Map<String, Effects> happened, List<Violation> violations) {
    out.println(
        "requests "
            + heard.size()
            + ", operations "
            + heard.stream().map(Heard::operation).distinct().count()
            + ", effects "
            + happened.values().stream().mapToLong(Effects::effects).sum()
            + ", attempts "
            + happened.values().stream().mapToLong(one -> one.numbers().size()).sum());
    out.println("answers: " + counts(heard));
    out.println("in the end: " + counts(heard.stream().filter(Heard::last).toList()));
    for (Violation violation : violations.subList(0, Math.min(SHOWN, violations.size()))) {
      out.println(
          "VIOLATION " + violation.rule() + ", " + violation.key() + ": " + violation.seen());
    }
    out.println(violations.isEmpty() ? "verdict: PASS" : "verdict: FAIL, " + violations.size());
  }

  private static Map<String, Integer> counts(List<Heard> heard) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Heard one : heard) {
      counts.merge(kind(one.answer()), 1, Integer::sum);
    }
    return counts;
  }

  private static String kind(Answer answer) {
    if (!(answer instanceof Answer.Response response)) {
      return "none";
    }
    return response.status()
        + (response.problem() == null ? "" : " " + response.problem())
        + (response.replayed() ? " replayed" : "");
  }
}
