package dev.idempotency.loadtest;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line. Exit codes: 0 all promises held, 1 one was broken, 2 it could not be run. */
@Command(
    name = "idempotency-loadtest",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Puts load on an idempotency gateway and checks every answer.")
public final class LoadTestCommand implements Callable<Integer> {

  private static final int HELD = 0;
  private static final int BROKEN = 1;
  private static final int NOT_RUN = 2;

  private final PrintStream out;

  @Option(names = "--target", required = true, description = "where orders are posted")
  private String target = "";

  @Option(names = "--ledger", required = true, description = "the demo upstream's /ledger")
  private String ledger = "";

  @Option(names = "--rate", description = "starts per second (default: ${DEFAULT-VALUE})")
  private double rate = 100;

  @Option(names = "--duration", description = "in seconds (default: ${DEFAULT-VALUE})")
  private double duration = 10;

  @Option(names = "--warm-up", description = "seconds without recording (default: 0)")
  private double warmUp;

  @Option(names = "--mix", description = "weights (default: ${DEFAULT-VALUE})")
  private String mix = "fresh=70,replay=20,duplicate=8,mismatch=2";

  @Option(names = "--connections", description = "most at a time (default: ${DEFAULT-VALUE})")
  private int connections = 64;

  @Option(names = "--timeout", description = "seconds per answer (default: ${DEFAULT-VALUE})")
  private double timeout = 30;

  @Option(names = "--seed", description = "of the order of kinds (default: by chance)")
  private long seed = new SecureRandom().nextLong();

  @Option(names = "--header", description = "'Name: value' to send; may be repeated")
  private List<String> headers = new ArrayList<>();

  @Option(
      names = "--allow-failures",
      description = "no answer, 5xx, 429 and outcome-unknown are counted, not violations")
  private boolean allowFailures;

  LoadTestCommand(PrintStream out) {
    this.out = out;
  }

  @SuppressWarnings("SystemOut") // the report is what this program is for
  public static void main(String[] arguments) {
    System.exit(
        arguments.length > 0 && arguments[0].equals("lab")
            ? LabCommand.line(System.out)
                .execute(Arrays.copyOfRange(arguments, 1, arguments.length))
            : new CommandLine(new LoadTestCommand(System.out)).execute(arguments));
  }

  @Override
  public Integer call() throws InterruptedException {
    try {
      Settings settings = settings();
      HttpClient client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(settings.timeout())
              .build();
      return run(settings, client);
    } catch (IllegalArgumentException e) {
      out.println("not run: " + e.getMessage());
      return NOT_RUN;
    } catch (IOException e) {
      out.println("not run: " + ledger + ": " + (e.getMessage() == null ? e : e.getMessage()));
      return NOT_RUN;
    }
  }

  private int run(Settings settings, HttpClient client) throws IOException, InterruptedException {
    String prefix = "lt-" + Long.toString(new SecureRandom().nextLong() >>> 1, 36) + '-';
    out.printf(
        Locale.ROOT,
        "%s: %s starts/s for %s s, at most %d at a time, keys %s*%n",
        settings.target(),
        settings.rate(),
        settings.duration().toMillis() / 1000.0,
        settings.connections(),
        prefix);
    // Before the load: a ledger that cannot be read would make the run worthless.
    LedgerReader before = ledger(settings, client, prefix);
    Checker checker = new Checker(settings.strictness());
    Generator generator = new Generator(settings, new Target(client, settings), checker, prefix);
    generator.run();
    LedgerReader after = ledger(settings, client, prefix);
    checker.ledger(after.keys(), after.untracked().minus(before.untracked()));
    new Report(out).print(settings, generator, checker);
    return checker.counts().isEmpty() ? HELD : BROKEN;
  }

  private static LedgerReader ledger(Settings settings, HttpClient client, String prefix)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(settings.ledger()).timeout(settings.timeout()).build();
    HttpResponse<InputStream> response = client.send(request, BodyHandlers.ofInputStream());
    try (InputStream text = response.body()) {
      if (response.statusCode() != 200) {
        throw new IOException("it answered " + response.statusCode() + " (expected: 200)");
      }
      return LedgerReader.read(text, prefix);
    }
  }

  private Settings settings() {
    return new Settings(
        Loopback.only("--target", target),
        Loopback.only("--ledger", ledger),
        rate,
        seconds(duration),
        seconds(warmUp),
        Mix.parse(mix),
        connections,
        seconds(timeout),
        seed,
        namesAndValues(headers),
        allowFailures ? Strictness.FAILURES_ALLOWED : Strictness.NOTHING_FAILS);
  }

  private static Duration seconds(double seconds) {
    return Duration.ofMillis(Math.round(seconds * 1000));
  }

  private static List<String> namesAndValues(List<String> lines) {
    List<String> fields = new ArrayList<>();
    for (String line : lines) {
      int colon = line.indexOf(':');
      if (colon < 1) {
        throw new IllegalArgumentException("--header: " + line + " (expected: Name: value)");
      }
      fields.add(line.substring(0, colon).strip());
      fields.add(line.substring(colon + 1).strip());
    }
    return fields;
  }
}
