package dev.idempotency.gateway.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30) // a connection that is never answered must not hold the build up
class DemoOrdersTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;

  private final HttpClient client = HttpClient.newHttpClient();
  private Path file;
  private DemoOrders demo;

  @BeforeEach
  void start() {
    file = folder.resolve("ledger.jsonl");
    demo = start(0, DemoOptions.defaults().withLedgerFile(file));
  }

  @AfterEach
  void stop() {
    demo.close();
    demo.closed().toCompletableFuture().join();
  }

  private static DemoOrders start(int port, DemoOptions options) {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    return DemoOrders.start(address, options).toCompletableFuture().join();
  }

  private HttpRequest.Builder to(String target) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + demo.port() + target));
  }

  private HttpResponse<String> order(String query, String key) throws Exception {
    return client.send(
        to("/orders" + query)
            .header("Idempotency-Key", key)
            .POST(BodyPublishers.ofString("{\"item\":\"book\"}"))
            .build(),
        BodyHandlers.ofString());
  }

  private JsonNode get(String target) throws Exception {
    return JSON.readTree(client.send(to(target).build(), BodyHandlers.ofString()).body());
  }

  @Test
  void orderIsCreatedAndCanBeReadBack() throws Exception {
    HttpResponse<String> created = order("", "k1");

    assertThat(created.statusCode()).isEqualTo(201);
    JsonNode order = JSON.readTree(created.body());
    assertThat(order.get("execution").asInt()).isEqualTo(1);
    assertThat(order.get("received").asInt()).isEqualTo(15);
    String location = created.headers().firstValue("Location").orElseThrow();
    assertThat(get(location)).isEqualTo(order);
    assertThat(get("/orders").get("orders")).containsExactly(order);
  }

  @Test
  void secondOrderOfAKeyShowsAsASecondExecution() throws Exception {
    order("", "k1");

    JsonNode second = JSON.readTree(order("", "\"k1\"").body());

    assertThat(second.get("execution").asInt()).isEqualTo(2);
    assertThat(demo.effects("k1")).isEqualTo(2);
    assertThat(demo.attempts("k1")).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    "?fail=before, 503, 0",
    "?fail=after, 500, 1",
    "?status=422, 422, 0",
    "?status=202, 202, 1",
    "?status=204, 204, 1",
  })
  void answerAndEffectAreAsAsked(String query, int status, int effects) throws Exception {
    HttpResponse<String> answer = order(query, "k1");

    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Retry-After").isPresent()).isEqualTo(status == 503);
    assertThat(demo.effects("k1")).isEqualTo(effects);
    assertThat(demo.attempts("k1")).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"?drop=before, 0", "?drop=after, 1"})
  void droppedConnectionCarriesNoAnswer(String query, int effects) {
    assertThatThrownBy(() -> order(query, "k1")).isInstanceOf(IOException.class);

    assertThat(demo.effects("k1")).isEqualTo(effects);
    assertThat(demo.attempts("k1")).isEqualTo(1);
  }

  @Test
  void outcomeIsSaidAsAsked() throws Exception {
    HttpResponse<String> answer = order("?status=500&outcome=released", "k1");

    assertThat(answer.headers().firstValue("Idempotency-Outcome")).hasValue("released");
    assertThat(demo.effects()).isZero();
  }

  @Test
  void paddedAnswerIsWellFormedAndAsLongAsAsked() throws Exception {
    JsonNode order = JSON.readTree(order("?size=1MiB", "k1").body());

    assertThat(order.get("padding").asText()).hasSize(1 << 20).matches("x+");
  }

  @Test
  void effectComesWithoutTheCallerThatWentAway() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), demo.port())) {
      write(socket, request("/orders?delay=300ms", "k1"));
      await().until(() -> demo.attempts("k1") == 1);
    }

    await().until(() -> demo.effects("k1") == 1);
  }

  @Test
  void delayedAnswerKeepsItsPlaceBeforePipelinedOnes() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), demo.port())) {
      write(
          socket,
          request("/orders?delay=200ms", "slow")
              + "GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      String answers =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

      assertThat(answers).containsSubsequence("201 Created", "ord-1", "404 Not Found");
    }
  }

  private static String request(String target, String key) {
    return "POST "
        + target
        + " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: "
        + key
        + "\r\nContent-Length: 2\r\n\r\n{}";
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  @Test
  void ledgerTellsKeysSumsAndAttemptNumbers() throws Exception {
    client.send(
        to("/orders")
            .header("Idempotency-Key", "k\\\"1")
            .header("Idempotency-Attempt", "7")
            .POST(BodyPublishers.ofString("x"))
            .build(),
        BodyHandlers.discarding());
    client.send(
        to("/orders").POST(BodyPublishers.ofString("x")).build(), BodyHandlers.discarding());

    JsonNode ledger = get("/ledger");

    assertThat(ledger.get("effects").asInt()).isEqualTo(2);
    assertThat(ledger.get("attempts").asInt()).isEqualTo(2);
    assertThat(ledger.at("/keyless/effects").asInt()).isEqualTo(1);
    assertThat(ledger.at("/untracked/effects").asInt()).isZero();
    assertThat(ledger.get("keys").get("k\\\"1").get("effects").asInt()).isEqualTo(1);
    assertThat(get("/ledger?key=k%5C%221").get("attempt_numbers")).hasToString("[7]");
  }

  @Test
  void deletedLedgerStartsAnew() throws Exception {
    order("", "k1");

    HttpResponse<Void> deleted =
        client.send(to("/ledger").DELETE().build(), BodyHandlers.discarding());

    assertThat(deleted.statusCode()).isEqualTo(204);
    assertThat(demo.effects()).isZero();
    assertThat(get("/ledger").get("keys")).isEmpty();
  }

  @Test
  void requestThatIsNoOrderChangesNothing() throws Exception {
    assertThat(order("?delay=soon", "k1").statusCode()).isEqualTo(400);
    HttpResponse<Void> empty =
        client.send(to("/orders").POST(BodyPublishers.noBody()).build(), BodyHandlers.discarding());
    assertThat(empty.statusCode()).isEqualTo(400);
    assertThat(get("/orders/ord-99").get("error").asText()).isEqualTo("no such order");
    assertThat(demo.effects()).isZero();
  }

  @Test
  void ledgerFileHasEachEventWhenTheAnswerIsThere() throws Exception {
    order("", "k1");

    List<String> lines = Files.readAllLines(file);

    assertThat(lines).hasSize(2);
    JsonNode attempt = JSON.readTree(lines.get(0));
    assertThat(attempt.get("event").asText()).isEqualTo("attempt");
    JsonNode effect = JSON.readTree(lines.get(1));
    assertThat(effect.get("event").asText()).isEqualTo("effect");
    assertThat(effect.get("key").asText()).isEqualTo("k1");
    assertThat(effect.get("order").asText()).isEqualTo("ord-1");
  }

  @Test
  void oldestOrderGoesWhenMoreCameThanAreKept() throws Exception {
    stop();
    demo = start(0, new DemoOptions(null, 10, 2));
    for (int i = 0; i < 3; i++) {
      order("", "k" + i);
    }

    assertThat(get("/orders").get("orders")).hasSize(2);
    assertThat(get("/orders/ord-1").has("error")).isTrue();
    assertThat(get("/orders/ord-3").has("id")).isTrue();
    assertThat(demo.effects()).isEqualTo(3);
  }

  @Test
  void portThatIsTakenFailsTheStart() {
    assertThatThrownBy(() -> start(demo.port(), DemoOptions.defaults()))
        .hasCauseInstanceOf(BindException.class);
  }

  @Test
  void ledgerFileThatCannotBeOpenedFailsTheStart() {
    assertThatThrownBy(() -> start(0, DemoOptions.defaults().withLedgerFile(folder)))
        .hasCauseInstanceOf(IOException.class);
  }
}
