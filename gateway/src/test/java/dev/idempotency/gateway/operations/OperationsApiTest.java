package dev.idempotency.gateway.operations;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.gateway.exchange.AnswerRule;
import dev.idempotency.gateway.exchange.CopyRule;
import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.PathPattern;
import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.exchange.Upstream;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.idempotency.PiecedResponse;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OperationsApiTest {

  private static final String READ = "a-token-that-only-reads";
  private static final String WRITE = "a-token-that-may-also-write";
  private static final String HEX = "0a".repeat(32);
  private static final AttemptToken HOLDER = AttemptToken.of(new byte[AttemptToken.LENGTH]);

  /** The first half of the SHA-256 of sixteen zeros. */
  private static final String HOLDER_NAME = "374708fff7719dd5";

  private final OpenOperationsBook book = new OpenOperationsBook();
  private final GatewayMetrics metrics = new GatewayMetrics("test");
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private EventLoopGroup group;
  private AdminServer server;
  private int port;

  @BeforeEach
  void start() throws InterruptedException {
    start(new OperatorOptions(READ, WRITE, true, "https://idp"));
  }

  private void start(OperatorOptions options) throws InterruptedException {
    Transport transport = Transport.best();
    group = transport.group(1, "operators-test");
    List<Route> routes =
        List.of(
            route("open"),
            route("tenants", new ScopePart.Header("X-Tenant"), new ScopePart.TokenClaim("sub")));
    server =
        new AdminServer(
            transport,
            group,
            metrics,
            () -> new Readiness.State(true, true, "", false),
            new OperationsApi(options, routes, loop -> book, metrics));
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    port = ((InetSocketAddress) server.bind(any).sync().channel().localAddress()).getPort();
  }

  @AfterEach
  void stop() throws InterruptedException {
    server.close();
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
  }

  private static Route route(String name, ScopePart... scope) {
    Upstream nobody = acquirer -> acquirer.refused(Upstream.Refusal.CLOSED);
    return new Route(
        name,
        Set.of("POST"),
        PathPattern.of("/**"),
        nobody,
        Route.Keying.REQUIRED,
        false,
        KeyRule.header("Idempotency-Key"),
        Route.Callers.of(List.of(scope)),
        new NoFingerprints(),
        Duration.ofHours(36),
        Duration.ofSeconds(10),
        Route.Waiting.of(Duration.ZERO),
        UnknownPolicy.HOLD,
        Route.Safety.NONE,
        false,
        new OutcomePolicy(Map.of()),
        1,
        1,
        false,
        CopyRule.DEFAULT,
        new AnswerRule(AnswerRule.Style.PROBLEM, null),
        false,
        false);
  }

  private static final class NoFingerprints implements Fingerprinter {
    @Override
    public Fingerprints fingerprint(RequestHead head, byte[] body) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Running begin(RequestHead head) {
      throw new UnsupportedOperationException();
    }
  }

  private static OperationId id(int number) {
    byte[] bytes = new byte[OperationId.LENGTH];
    Arrays.fill(bytes, (byte) number);
    return OperationId.of(bytes);
  }

  private static Fingerprint fingerprint() {
    byte[] hash = new byte[Fingerprint.LENGTH];
    hash[0] = (byte) 0xab;
    return new Fingerprint(2, hash);
  }

  private void unknown(int number, String route, Duration overdue) {
    StoredOperation operation =
        new StoredOperation(
            3,
            fingerprint(),
            new StoredOperation.OutcomeUnknown(true),
            new Note(route, "trace-" + number, "the-clients-key", "/path"),
            HOLDER);
    book.open.add(new OpenOperation(id(number), operation, overdue));
  }

  private void inFlight(int number) {
    StoredOperation operation =
        new StoredOperation(
            1,
            Fingerprint.OPEN,
            new StoredOperation.InFlight(Duration.ofSeconds(4)),
            Note.of("open"),
            HOLDER);
    book.open.add(new OpenOperation(id(number), operation, Duration.ZERO));
  }

  private HttpResponse<String> send(String method, String path, String token, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(10))
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    if (!token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    HttpResponse<String> response = send("GET", path, READ, "");
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return new ObjectMapper().readTree(response.body());
  }

  private HttpResponse<String> resolve(String body) throws IOException, InterruptedException {
    return send("POST", "/operations/" + id(1) + "/resolve", WRITE, body);
  }

  private static JsonNode json(HttpResponse<String> response) throws IOException {
    return new ObjectMapper().readTree(response.body());
  }

  private static List<String> ids(JsonNode page) {
    return page.get("operations").findValuesAsText("id");
  }

  private static List<String> names(int... numbers) {
    return Arrays.stream(numbers).mapToObj(number -> id(number).toString()).toList();
  }

  @Test
  void unknownOperationsAreListedWithWhatIsKnownOfThem() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));
    inFlight(2);

    JsonNode page = get("/operations");

    assertThat(ids(page)).isEqualTo(names(1));
    assertThat(page.get("next").asText()).isEmpty();
    assertThat(page.get("operations").get(0))
        .isEqualTo(
            new ObjectMapper()
                .readTree(
                    "{\"id\":\""
                        + id(1)
                        + "\",\"state\":\"unknown\",\"attempt\":3,\"holder\":\""
                        + HOLDER_NAME
                        + "\",\"lapsed\":true,"
                        + "\"overdue_ms\":300000,\"route\":\"open\",\"trace\":\"trace-1\"}"));
  }

  @Test
  void listIsNarrowedByRouteStateAndAge() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));
    unknown(2, "tenants", Duration.ofMinutes(4));
    unknown(3, "open", Duration.ofSeconds(3));
    inFlight(4);

    assertThat(ids(get("/operations?route=open"))).isEqualTo(names(1, 3));
    assertThat(ids(get("/operations?older=4m"))).isEqualTo(names(1, 2));
    assertThat(ids(get("/operations?state=in-flight"))).isEqualTo(names(4));
    assertThat(ids(get("/operations?state=all"))).isEqualTo(names(1, 2, 3, 4));
  }

  /** The store's own pages are shorter than what is asked for. */
  @Test
  void pagesLeaveNothingOutAndTellNothingTwice() throws Exception {
    for (int i = 1; i <= 7; i++) {
      unknown(i, i % 2 == 0 ? "tenants" : "open", Duration.ofMinutes(10 - i));
    }

    JsonNode first = get("/operations?limit=3");
    JsonNode second = get("/operations?limit=3&cursor=" + first.get("next").asText());
    JsonNode third = get("/operations?limit=3&cursor=" + second.get("next").asText());

    assertThat(ids(first)).isEqualTo(names(1, 2, 3));
    assertThat(ids(second)).isEqualTo(names(4, 5, 6));
    assertThat(ids(third)).isEqualTo(names(7));
    assertThat(third.get("next").asText()).isEmpty();
    assertThat(ids(get("/operations?limit=3&route=open"))).isEqualTo(names(1, 3, 5));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "limit=0    | limit is not a whole number from 1 to 1000.",
        "limit=1001 | limit is not a whole number from 1 to 1000.",
        "limit=x    | limit is not a whole number from 1 to 1000.",
        "older=5    | older is no duration such as 30s, 10m or 24h.",
        "state=lost | state is none of unknown, in-flight and all.",
        "state=all&older=5m | older goes with state=unknown only.",
        "rute=x | There is no such member: rute (expected: [cursor, limit, older, route, state]).",
      })
  void parameterThatMakesNoSenseIsNamed(String query, String detail) throws Exception {
    HttpResponse<String> response = send("GET", "/operations?" + query, READ, "");

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(json(response).get("detail").asText()).isEqualTo(detail);
  }

  @Test
  void operationIsShownWithItsAgeItsFingerprintAndItsHistory() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));
    book.entries.add(
        new OpenOperations.Entry(1_700_000_000_000L, "extend", 3, new Audit("ann", "asked")));

    JsonNode shown = get("/operations/" + id(1));

    assertThat(shown.get("overdue_ms").asLong()).isEqualTo(300_000);
    assertThat(shown.get("fingerprint").get("version").asInt()).isEqualTo(2);
    assertThat(shown.get("fingerprint").get("hash").asText()).startsWith("ab00").hasSize(64);
    assertThat(shown.get("history").get(0).toString())
        .isEqualTo(
            "{\"at\":\"2023-11-14T22:13:20.000Z\",\"what\":\"extend\",\"attempt\":3,"
                + "\"who\":\"ann\",\"why\":\"asked\"}");
    assertThat(shown.toString()).doesNotContain("the-clients-key", "/path");
  }

  private void completed(byte[] body) {
    StoredResponse response =
        new StoredResponse(
            201,
            Headers.of("Content-Type", "text/plain", "Idempotency-Original-Trace", "4bf9"),
            body,
            new Headers());
    book.finished.put(
        id(1), new StoredOperation(1, fingerprint(), new StoredOperation.Completed(response)));
  }

  @Test
  void completedOperationShowsItsResponseAndItsBodyOnlyWhenAsked() throws Exception {
    completed("höchstens".getBytes(StandardCharsets.UTF_8));

    JsonNode head = get("/operations/" + id(1)).get("response");
    JsonNode whole = get("/operations/" + id(1) + "?body=1");

    assertThat(head.get("status").asInt()).isEqualTo(201);
    assertThat(head.get("headers").get(0).get("value").asText()).isEqualTo("text/plain");
    assertThat(head.get("body_bytes").asInt()).isEqualTo(10);
    assertThat(head.has("body")).isFalse();
    assertThat(whole.get("response").get("body").asText()).isEqualTo("höchstens");
    assertThat(whole.get("trace").asText()).isEqualTo("4bf9");
  }

  @Test
  void bodyThatIsNoTextIsShownInBase64() throws Exception {
    completed(new byte[] {(byte) 0xff, 0});

    JsonNode response = get("/operations/" + id(1) + "?body=1").get("response");

    assertThat(response.get("body_base64").asText()).isEqualTo("/wA=");
  }

  @Test
  void responseInPiecesShowsWhatItsRecordHas() throws Exception {
    StoredResponse head =
        new StoredResponse(
            200,
            Headers.of("X-A", "b", "Idempotency-Original-Trace", "4bf9"),
            new byte[0],
            Headers.of("Sum", "1"));
    PiecedResponse pieced = new PiecedResponse(head, AttemptToken.next(), 3, 3_000_000_000L);
    book.finished.put(
        id(1),
        new StoredOperation(1, fingerprint(), new StoredOperation.Completed(pieced.packed())));

    JsonNode shown = get("/operations/" + id(1) + "?body=1");

    JsonNode response = shown.get("response");
    assertThat(response.get("status").asInt()).isEqualTo(200);
    assertThat(response.get("headers").get(0).get("value").asText()).isEqualTo("b");
    assertThat(response.get("trailers").get(0).get("name").asText()).isEqualTo("Sum");
    assertThat(response.get("body_bytes").asLong()).isEqualTo(3_000_000_000L);
    assertThat(response.get("pieces").asInt()).isEqualTo(3);
    assertThat(response.has("body")).isFalse();
    assertThat(shown.get("trace").asText()).isEqualTo("4bf9");
  }

  @Test
  void bodiesThatMayNotBeShownAreNot() throws Exception {
    stop();
    start(new OperatorOptions(READ, null, false, ""));
    completed(new byte[1]);

    HttpResponse<String> response = send("GET", "/operations/" + id(1) + "?body=1", READ, "");

    assertThat(response.statusCode()).isEqualTo(403);
    assertThat(response.body()).contains("operators.bodies").doesNotContain("/wA=");
  }

  @Test
  void operationIsFoundByRouteScopeAndKeyAsTheClientSendsThem() throws Exception {
    StoredOperation done = new StoredOperation(1, fingerprint(), new StoredOperation.NotKept(202));
    IdempotencyKey key = new IdempotencyKey("order-1");
    OperationId open = OperationId.of("open", Arrays.asList("Bearer x"), key);
    OperationId nobody = OperationId.of("open", Arrays.asList((String) null), key);
    OperationId tenants =
        OperationId.of("tenants", List.of("acme", "\0claim:3:sub:11:https://idp:2:u7"), key);
    OperationId elsewhere =
        OperationId.of("tenants", List.of("acme", "\0claim:3:sub:0::2:u7"), key);
    List.of(open, nobody, tenants, elsewhere).forEach(id -> book.finished.put(id, done));

    assertThat(found("{\"route\":\"open\",\"scope\":[\"bearer x\"],\"key\":\"order-1\"}"))
        .isEqualTo(open);
    assertThat(found("{\"route\":\"open\",\"key\":\"\\\"order-1\\\"\"}")).isEqualTo(nobody);
    assertThat(found("{\"route\":\"tenants\",\"scope\":[\"acme\",\"u7\"],\"key\":\"order-1\"}"))
        .isEqualTo(tenants);
    assertThat(
            found(
                "{\"route\":\"tenants\",\"scope\":[\"acme\",\"u7\"],\"issuer\":\"\","
                    + "\"key\":\"order-1\"}"))
        .isEqualTo(elsewhere);
  }

  private OperationId found(String body) throws IOException, InterruptedException {
    HttpResponse<String> response = send("POST", "/operations/find", READ, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return OperationId.of(HexFormat.of().parseHex(json(response).get("id").asText()));
  }

  @Test
  void openOperationIsFoundByItsTrace() throws Exception {
    for (int i = 1; i <= 5; i++) {
      unknown(i, "open", Duration.ofMinutes(10 - i));
    }

    HttpResponse<String> response =
        send("POST", "/operations/find", READ, "{\"trace\":\"trace-5\"}");

    assertThat(ids(json(response))).isEqualTo(names(5));
    assertThat(json(response).get("searched").asInt()).isEqualTo(5);
    assertThat(json(response).get("complete").asBoolean()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[]                                   | The body is not a JSON object.",
        "{\"a\":1,\"a\":2}                    | The body is not a JSON object.",
        "{\"key\":\"k\"}                      | route is missing.",
        "{\"route\":\"other\",\"key\":\"k\"}  | route is none of this gateway (expected: [open, tenants]).",
        "{\"route\":\"open\"}                 | key is missing.",
        "{\"route\":\"open\",\"key\":7}       | key is not a text.",
        "{\"route\":\"open\",\"key\":\"é\"}   "
            + "| key is none: it has a character outside printable ASCII at position 0.",
        "{\"route\":\"tenants\",\"key\":\"k\"} "
            + "| scope has 0 values (expected: 2, as the route has it).",
        "{\"trace\":\"t\",\"key\":\"k\"}      "
            + "| trace is given beside key or scope (expected: one of them).",
      })
  void questionThatNamesNothingIsRefused(String body, String detail) throws Exception {
    HttpResponse<String> response = send("POST", "/operations/find", READ, body);

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(json(response).get("detail").asText()).isEqualTo(detail);
  }

  @Test
  void operationIsCompletedWithTheGivenResponseForTheRoutesRetention() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));

    HttpResponse<String> response =
        resolve(
            "{\"attempt\":3,\"action\":\"complete\",\"who\":\"ann\",\"reason\":\"order 17 is"
                + " there\",\"response\":{\"status\":201,\"headers\":{\"Content-Type\":"
                + "\"application/json\",\"X-A\":[\"1\",\"2\"]},\"body\":\"{}\"}}");

    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    Resolution written = book.resolutions.get(0);
    assertThat(written.id()).isEqualTo(id(1));
    assertThat(written.attempt()).isEqualTo(3);
    assertThat(written.retention()).hasHours(36);
    assertThat(written.audit()).isEqualTo(new Audit("ann", "order 17 is there"));
    assertThat(written.action())
        .isEqualTo(
            new Resolution.Complete(
                new StoredResponse(
                    201,
                    Headers.of("Content-Type", "application/json", "X-A", "1", "X-A", "2"),
                    "{}".getBytes(StandardCharsets.UTF_8),
                    new Headers())));
  }

  @Test
  void operationIsReleasedOrExtendedForAsLongAsSaid() throws Exception {
    unknown(1, "elsewhere", Duration.ofMinutes(5));
    String by = ",\"who\":\"ann\",\"reason\":\"asked\"}";

    resolve("{\"attempt\":3,\"action\":\"release\"" + by);
    HttpResponse<String> untold = resolve("{\"attempt\":3,\"action\":\"extend\"" + by);
    resolve("{\"attempt\":3,\"action\":\"extend\",\"for\":\"48h\"" + by);

    assertThat(book.resolutions)
        .extracting(Resolution::action)
        .containsExactly(new Resolution.Release(), new Resolution.Extend());
    assertThat(book.resolutions.get(1).retention()).hasHours(48);
    assertThat(untold.statusCode()).isEqualTo(400);
    assertThat(untold.body()).contains("for is missing: the operation's route is none of this");
  }

  @Test
  void recordThatNamesNoRouteTakesARetentionThatIsGiven() throws Exception {
    unknown(1, "", Duration.ofMinutes(5));

    HttpResponse<String> response =
        resolve("{\"attempt\":3,\"action\":\"extend\",\"who\":\"ann\",\"reason\":\"r\"}");

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("for is missing: the record does not say which route");
  }

  @Test
  void whatTheStoreRefusesIsAnsweredWithWhatIsThere() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));
    book.reply = new ResolveReply.Refused(book.open.get(0).operation());

    HttpResponse<String> response =
        resolve("{\"attempt\":2,\"action\":\"release\",\"who\":\"ann\",\"reason\":\"r\"}");

    assertThat(response.statusCode()).isEqualTo(409);
    assertThat(json(response).get("operation").get("attempt").asInt()).isEqualTo(3);
    assertThat(json(response).get("operation").has("history")).as("was asked for").isFalse();
  }

  @Test
  void recordThatIsNotTheOneThatWasSeenIsNotResolved() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));
    String rest = ",\"action\":\"release\",\"who\":\"ann\",\"reason\":\"r\"}";

    HttpResponse<String> other = resolve("{\"attempt\":3,\"holder\":\"0123456789abcdef\"" + rest);

    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(json(other).get("detail").asText()).endsWith("attempt 3:" + HOLDER_NAME + ".");
    assertThat(json(other).get("operation").get("holder").asText()).isEqualTo(HOLDER_NAME);
    assertThat(book.resolutions).isEmpty();
  }

  /** Between look and write the key may be released and begun anew. */
  @Test
  void resolutionNamesTheRecordThatWasFound() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));
    String rest = ",\"action\":\"release\",\"who\":\"ann\",\"reason\":\"r\"}";

    HttpResponse<String> named =
        resolve("{\"attempt\":3,\"holder\":\"" + HOLDER_NAME + "\"" + rest);
    HttpResponse<String> unnamed = resolve("{\"attempt\":3" + rest);

    assertThat(named.statusCode()).as(named.body()).isEqualTo(200);
    assertThat(unnamed.statusCode()).as(unnamed.body()).isEqualTo(200);
    assertThat(book.resolutions).extracting(Resolution::holder).containsExactly(HOLDER, HOLDER);
  }

  @Test
  void eachDecisionStandsInTheLogWithWhoAndWhyAndNothingOfTheClient() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));
    try (CapturedLog log = new CapturedLog("dev.idempotency.gateway.audit")) {
      resolve("{\"attempt\":3,\"action\":\"release\",\"who\":\"ann\",\"reason\":\"order 17\"}");

      assertThat(log.messages())
          .containsExactly(
              "operation " + id(1) + " of route open: release of attempt 3 by ann done (order 17)");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"action\":\"release\",\"who\":\"a\",\"reason\":\"r\""
            + "| attempt is missing: the one that you saw, so that no other is hit.",
        "\"attempt\":3,\"who\":\"a\",\"reason\":\"r\" | action is missing.",
        "\"attempt\":3,\"holder\":\"37\",\"action\":\"release\",\"who\":\"a\",\"reason\":\"r\""
            + "| holder is not 16 hexadecimal digits, as the operation shows it.",
        "\"attempt\":3,\"action\":\"forget\",\"who\":\"a\",\"reason\":\"r\""
            + "| action is none of complete, release and extend.",
        "\"attempt\":3,\"action\":\"release\",\"who\":\"a\" | reason is missing.",
        "\"attempt\":3,\"action\":\"release\",\"reason\":\"r\" | who is missing.",
        "\"attempt\":3,\"action\":\"release\",\"who\":\"a\\nb\",\"reason\":\"r\""
            + "| who is not a line of 1 to 100 characters without controls.",
        "\"attempt\":3,\"action\":\"complete\",\"who\":\"a\",\"reason\":\"r\""
            + "| response is missing, which complete needs.",
        "\"attempt\":3,\"action\":\"extend\",\"for\":\"1ms\",\"who\":\"a\",\"reason\":\"r\""
            + "| for is no duration from 100ms to 3650d, such as 24h.",
        "\"attempt\":3,\"action\":\"release\",\"for\":\"1h\",\"who\":\"a\",\"reason\":\"r\""
            + "| for goes with complete and extend only.",
        "\"attempt\":3,\"action\":\"complete\",\"response\":{\"status\":100},\"who\":\"a\","
            + "\"reason\":\"r\" | status is not a whole number from 200 to 599.",
        "\"attempt\":3,\"action\":\"complete\",\"response\":{\"status\":200,\"headers\":"
            + "{\"Content-Length\":\"5\"}},\"who\":\"a\",\"reason\":\"r\""
            + "| The header Content-Length is the gateway's own to set.",
        "\"attempt\":3,\"action\":\"complete\",\"response\":{\"status\":200,\"headers\":"
            + "{\"X-A\":\"a\\r\\nb\"}},\"who\":\"a\",\"reason\":\"r\""
            + "| The header X-A has a value that is no visible ASCII.",
        "\"attempt\":3,\"action\":\"complete\",\"response\":{\"status\":200,\"body_base64\":"
            + "\"?\"},\"who\":\"a\",\"reason\":\"r\" | body_base64 is not base64.",
      })
  void decisionThatIsNotWholeIsRefusedAndWritesNothing(String members, String detail)
      throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));

    HttpResponse<String> response = resolve("{" + members + "}");

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(json(response).get("detail").asText()).isEqualTo(detail);
    assertThat(book.resolutions).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "GET,/operations,,401",
    "GET,/operations,wrong,401",
    "GET,/operations,a-token-that-only-read,401",
    "GET,/operations,a-token-that-only-reads,200",
    "GET,/operations,a-token-that-may-also-write,200",
    "POST,/operations/" + "x" + "/resolve,,401",
    "POST,/operations/" + "x" + "/resolve,a-token-that-only-reads,403",
    "POST,/operations/" + "x" + "/resolve,a-token-that-may-also-write,400",
    "GET,/operations/x,a-token-that-only-reads,400",
    "POST,/operations,a-token-that-only-reads,405",
    "DELETE,/operations/x,a-token-that-may-also-write,405",
    "GET,/operations/x/y,a-token-that-only-reads,404",
  })
  void tokenDecidesWhatSomebodyMay(String method, String path, String token, int status)
      throws Exception {
    HttpResponse<String> response = send(method, path, token == null ? "" : token, "");

    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(response.headers().firstValue("WWW-Authenticate").isPresent())
        .isEqualTo(status == 401 || status == 403);
    assertThat(response.headers().firstValue("Allow").isPresent()).isEqualTo(status == 405);
  }

  @Test
  void operationWithoutARecordIsNotFound() throws Exception {
    assertThat(send("GET", "/operations/" + HEX, READ, "").statusCode()).isEqualTo(404);
    assertThat(
            resolve("{\"attempt\":3,\"action\":\"release\",\"who\":\"a\",\"reason\":\"r\"}")
                .statusCode())
        .isEqualTo(404);
  }

  @Test
  void storeThatIsAwayIsSaidToBe() throws Exception {
    book.away = true;

    HttpResponse<String> listed = send("GET", "/operations", READ, "");

    assertThat(listed.statusCode()).isEqualTo(503);
    assertThat(json(listed).get("error").asText()).isEqualTo("store-unavailable");
  }

  @Test
  void whereNobodyMayTheAnswerNamesTheSetting() throws Exception {
    stop();
    start(OperatorOptions.NOBODY);

    HttpResponse<String> response = send("GET", "/operations", WRITE, "");

    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).contains("operators.read");
    assertThat(send("GET", "/", "", "").body()).doesNotContain("/operations");
  }

  @Test
  void actionsAreCountedByWhatCameOfThem() throws Exception {
    unknown(1, "open", Duration.ofMinutes(5));
    assertThat(get("/operations")).isNotNull();
    assertThat(send("GET", "/operations", "", "")).isNotNull();
    assertThat(resolve("{\"attempt\":3,\"action\":\"release\",\"who\":\"a\",\"reason\":\"r\"}"))
        .isNotNull();

    assertThat(new String(metrics.scrape(false), StandardCharsets.UTF_8))
        .contains("gateway_operator_actions_total{action=\"list\",result=\"done\"} 1.0")
        .contains("gateway_operator_actions_total{action=\"list\",result=\"denied\"} 1.0")
        .contains("gateway_operator_actions_total{action=\"release\",result=\"done\"} 1.0");
  }
}
