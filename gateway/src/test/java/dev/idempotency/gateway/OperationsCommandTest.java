package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.idempotency.gateway.cli.OperationsCommand;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code gateway operations} and a gateway, which it resolves operations of. */
class OperationsCommandTest {

  private static final String READ = "a-token-that-only-reads";
  private static final String WRITE = "a-token-that-may-also-write";
  private static final String NO_INPUT = "";

  @TempDir private Path folder;
  private ScriptedUpstream upstream;
  private TestGateway gateway;

  /** What came of a command. */
  private record Ran(int code, String out, String err) {

    JsonNode json() throws IOException {
      assertThat(code).as(err).isZero();
      return new ObjectMapper().readTree(out);
    }
  }

  @BeforeEach
  void start() throws IOException {
    upstream = ScriptedUpstream.start((request, wire) -> wire.cut());
    Path read = Files.writeString(folder.resolve("read"), READ + "\n");
    Path write = Files.writeString(folder.resolve("write"), WRITE + "\n");
    gateway =
        TestGateway.start(
            "operators: { read: { file: \""
                + read
                + "\" }, write: { file: \""
                + write
                + "\" }, bodies: true }\n"
                + TestGateway.yaml(upstream.url(), "memory"));
  }

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
  }

  private static Ran run(int adminPort, String token, String input, List<String> words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    List<String> all = new ArrayList<>(words);
    all.add("--admin=http://127.0.0.1:" + adminPort);
    int code =
        new OperationsCommand(
                Map.of("IDEMPOTENCY_OPERATIONS_TOKEN", token),
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8))
            .run(all, "test");
    return new Ran(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private Ran run(String... words) {
    return run(gateway.adminPort(), WRITE, NO_INPUT, List.of(words));
  }

  private RawResponse ask(String key) {
    return once(gateway.port(), post("/orders", key, "{}", "Authorization: Bearer alice"));
  }

  /** The id of an operation of Alice whose outcome nobody knows. */
  private String unknown(String key) throws IOException {
    assertThat(ask(key).status()).isEqualTo(502);
    return find(key).json().get("id").asText();
  }

  /** The word that tells attempt and record. */
  private String attempt(String key) throws IOException {
    JsonNode found = find(key).json();
    return found.get("attempt").asText() + ":" + found.get("holder").asText();
  }

  private Ran find(String key) {
    return run(
        gateway.adminPort(),
        READ,
        "Bearer alice\n" + key + "\n",
        List.of("find", "--route=default", "--scope=-", "--key=-", "--json"));
  }

  @Test
  void unknownOperationIsListedAndShown() throws Exception {
    String id = unknown("k");

    Ran list = run("list");
    Ran show = run("show", id);

    assertThat(list.code()).isZero();
    assertThat(list.out().lines().toList())
        .hasSize(2)
        .satisfies(
            lines -> {
              assertThat(lines.get(0)).startsWith("ID ").endsWith("TRACE");
              assertThat(lines.get(1))
                  .startsWith(id + "  unknown  " + attempt("k"))
                  .contains("default");
            });
    assertThat(show.out()).contains(id, "unknown for ", attempt("k"), "default", "(version ");
    assertThat(list.err() + show.err()).isEmpty();
  }

  @Test
  void listEndsAtItsLimitAndSaysThatThereIsMore() throws Exception {
    for (int i = 0; i < 5; i++) {
      String unused = unknown("k" + i);
    }

    assertThat(run("list", "--json").json().get("operations")).hasSize(5);
    JsonNode three = run("list", "--json", "--limit=3").json();
    assertThat(three.get("operations")).hasSize(3);
    assertThat(three.get("next").asText()).isNotEmpty();
    assertThat(run("list", "--limit=3").err()).contains("raise --limit");
    assertThat(run("list", "--route=other").err()).contains("There are none");
    assertThat(run("list", "--older=1h", "--json").json().get("operations")).isEmpty();
  }

  @Test
  void responseThatIsGivenIsReplayedAndTheHistorySaysWhoGaveIt() throws Exception {
    String id = unknown("k");
    Path body = Files.writeString(folder.resolve("body"), "made\n");

    Ran done =
        run(
            "complete",
            id,
            "--attempt=1",
            "--status=201",
            "--header=Location: /orders/17",
            "--body-file=" + body,
            "--reason=order 17 is there",
            "--who=ann");
    RawResponse replay = ask("k");
    Ran show = run("show", id, "--body");

    assertThat(done.code()).as(done.err()).isZero();
    assertThat(done.out()).startsWith(id + " completed");
    assertThat(replay.status()).isEqualTo(201);
    assertThat(replay.text()).isEqualTo("made\n");
    assertThat(replay.header("Location")).isEqualTo("/orders/17");
    assertThat(show.out())
        .contains("completed", "Location: /orders/17", "made", "by ann: order 17 is there")
        .doesNotContain("route ", "trace ");
    assertThat(upstream.requests()).isOne();
  }

  @Test
  void releasedKeyRunsAgain() throws Exception {
    String id = unknown("k");
    upstream.script((request, wire) -> wire.respond(200, "second"));

    Ran done = run("release", id, "--attempt=1", "--reason=never arrived", "--who=ann");

    assertThat(done.code()).as(done.err()).isZero();
    assertThat(ask("k").text()).isEqualTo("second");
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void extendedOperationStaysUnknown() throws Exception {
    String id = unknown("k");

    Ran done = run("extend", id, "--attempt=1", "--for=48h", "--reason=bank asked", "--who=ann");

    assertThat(done.code()).as(done.err()).isZero();
    assertThat(run("show", id, "--json").json().get("state").asText()).isEqualTo("unknown");
    assertThat(run("show", id).out()).contains("by ann: bank asked");
  }

  @Test
  void attemptThatIsNotTheCurrentOneChangesNothing() throws Exception {
    String id = unknown("k");

    Ran refused = run("release", id, "--attempt=2", "--reason=x", "--who=ann");

    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.err()).contains("attempt 1", "Nothing was changed").hasLineCount(1);
    assertThat(ask("k").status()).isEqualTo(409);
  }

  @Test
  void sameAttemptOfTheKeyBegunAnewIsNotHitByTheWordOfTheOneBefore() throws Exception {
    String id = unknown("k");
    String seen = attempt("k");
    Ran first = run("release", id, "--attempt=" + seen, "--reason=x", "--who=ann");
    assertThat(ask("k").status()).isEqualTo(502);

    Ran late = run("release", id, "--attempt=" + seen, "--reason=x", "--who=bob");

    assertThat(first.code()).as(first.err()).isZero();
    assertThat(late.code()).isEqualTo(1);
    assertThat(late.err()).contains("attempt " + attempt("k"), "Nothing was changed");
    assertThat(attempt("k")).isNotEqualTo(seen);
    assertThat(ask("k").status()).isEqualTo(409);
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void readersMayNotResolve() throws Exception {
    String id = unknown("k");

    Ran refused =
        run(
            gateway.adminPort(),
            READ,
            NO_INPUT,
            List.of("release", id, "--attempt=1", "--reason=x", "--who=ann"));

    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.err()).contains("operators.write").hasLineCount(1);
  }

  @Test
  void wrongTokenIsNamedButNotShown() {
    Ran refused = run(gateway.adminPort(), "not-the-right-token", NO_INPUT, List.of("list"));

    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.err())
        .contains("operators.read", "--token-file")
        .doesNotContain("not-the-right-token")
        .hasLineCount(1);
  }

  @Test
  void tokenOfAFileCountsBeforeTheVariableAndIsNotShown() throws Exception {
    String id = unknown("k");

    Ran list =
        run(
            gateway.adminPort(),
            "not-the-right-token",
            NO_INPUT,
            List.of("list", "--token-file=" + folder.resolve("read")));

    assertThat(list.code()).as(list.err()).isZero();
    assertThat(list.out() + list.err()).contains(id).doesNotContain(READ, "not-the-right");
  }

  @Test
  void bodyCanBeTheStandardInput() throws Exception {
    String id = unknown("k");

    Ran done =
        run(
            gateway.adminPort(),
            WRITE,
            "two\nlines\n",
            List.of(
                "complete",
                id,
                "--attempt=1",
                "--status=200",
                "--body-file=-",
                "--reason=it was made"));

    assertThat(done.code()).as(done.err()).isZero();
    assertThat(ask("k").text()).isEqualTo("two\nlines\n");
  }

  @Test
  void operationThatIsNotThereIsNotFound() {
    Ran gone = find("never-sent");

    assertThat(gone.code()).isEqualTo(1);
    assertThat(gone.err()).contains("no record with that route", "Bearer TOKEN").hasLineCount(1);
    assertThat(run("find", "--trace=" + "ab".repeat(16)).err()).contains("none has that trace");
  }

  @Test
  void gatewayWithoutOperatorsNamesTheSetting() {
    try (TestGateway closed = TestGateway.start(upstream.url(), "memory")) {
      Ran refused = run(closed.adminPort(), READ, NO_INPUT, List.of("list"));

      assertThat(refused.code()).isEqualTo(1);
      assertThat(refused.err()).contains("operators.read is not configured").hasLineCount(1);
    }
  }

  @Test
  void addressWhereNobodyListensIsNamed() throws Exception {
    int port;
    try (ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = gone.getLocalPort();
    }

    Ran refused = run(port, READ, NO_INPUT, List.of("list"));

    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.err()).contains("127.0.0.1:" + port, "no connection").hasLineCount(1);
  }

  /**
   * A gateway's page can be shorter than what was asked for, and empty where filters leave none.
   */
  @Test
  void listGoesThroughAllPages() throws Exception {
    List<String> asked = new CopyOnWriteArrayList<>();
    HttpServer pages =
        server(
            exchange -> {
              asked.add(exchange.getRequestURI().getQuery());
              String next = asked.size() < 3 ? "c" + asked.size() : "";
              String one = asked.size() == 2 ? "" : "{\"id\":\"" + asked.size() + "\"}";
              byte[] page =
                  ("{\"operations\":[" + one + "],\"next\":\"" + next + "\"}")
                      .getBytes(StandardCharsets.UTF_8);
              exchange.sendResponseHeaders(200, page.length);
              exchange.getResponseBody().write(page);
              exchange.close();
            });
    try {
      Ran list = run(pages.getAddress().getPort(), READ, NO_INPUT, List.of("list", "--json"));

      assertThat(list.json().get("operations").findValuesAsText("id")).containsExactly("1", "3");
      assertThat(asked).containsExactly("limit=100", "limit=99&cursor=c1", "limit=99&cursor=c2");
    } finally {
      pages.stop(0);
    }
  }

  private static HttpServer server(HttpHandler handler) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext("/", handler);
    server.start();
    return server;
  }

  /** The public port, say, or another program; the token follows no redirection. */
  @Test
  void addressOfSomethingElseIsNamed() throws Exception {
    HttpServer other =
        server(
            exchange -> {
              exchange
                  .getResponseHeaders()
                  .set("Location", "http://127.0.0.1:" + gateway.adminPort() + "/operations");
              exchange.sendResponseHeaders(302, -1);
              exchange.close();
            });
    try {
      Ran refused = run(other.getAddress().getPort(), READ, NO_INPUT, List.of("list"));

      assertThat(refused.code()).isEqualTo(1);
      assertThat(refused.err()).contains("with 302 is no admin listener").hasLineCount(1);
    } finally {
      other.stop(0);
    }
  }

  /** By the program's own entry, in a process of its own. */
  @Test
  void programRunsTheCommand() throws Exception {
    String id = unknown("k");

    ProgramRun list =
        ProgramRun.of(
            Map.of("IDEMPOTENCY_OPERATIONS_TOKEN", READ, "GATEWAY_UPSTREAM", "not a URL"),
            "operations",
            "list",
            "--admin",
            "http://127.0.0.1:" + gateway.adminPort());

    assertThat(list.code()).as(list.err()).isZero();
    assertThat(list.out()).contains(id);
    assertThat(ProgramRun.of("operations", "lst").code()).isEqualTo(2);
  }
}
