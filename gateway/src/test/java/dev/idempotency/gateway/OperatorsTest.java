package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** What operators see of clients' operations and decide about them, by every store. */
class OperatorsTest {

  private static final String BEARER = "Authorization: Bearer a-token-that-may-also-write";
  private static final String WHY = ",\"who\":\"ann\",\"reason\":\"looked it up\"}";

  @TempDir private Path folder;
  private ScriptedUpstream upstream;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    upstream = ScriptedUpstream.start((request, wire) -> wire.cut());
  }

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
  }

  /** An operation of Alice whose outcome nobody knows. */
  private JsonNode unknown(String store) throws IOException {
    Path token = Files.writeString(folder.resolve("token"), "a-token-that-may-also-write\n");
    gateway =
        TestGateway.start(
                "operators: { write: { file: \""
                    + token
                    + "\" }, bodies: true }\n"
                    + TestGateway.yaml(upstream.url(), store))
            .ready();
    assertThat(ask().status()).isEqualTo(502);
    return json(
        admin(
            "POST",
            "/operations/find",
            "{\"route\":\"default\",\"scope\":[\"Bearer alice\"],\"key\":\"k\"}"));
  }

  private RawResponse ask() {
    return once(gateway.port(), post("/orders", "k", "{}", "Authorization: Bearer alice"));
  }

  private RawResponse admin(String method, String path, @Nullable String body) {
    return once(
        gateway.adminPort(),
        RawClient.request(
            method,
            path,
            null,
            null,
            body == null ? null : body.getBytes(StandardCharsets.UTF_8),
            BEARER));
  }

  private RawResponse resolve(JsonNode found, long attempt, String members) {
    return admin(
        "POST",
        "/operations/" + found.get("id").asText() + "/resolve",
        "{\"attempt\":" + attempt + members + WHY);
  }

  private static JsonNode json(RawResponse response) throws JsonProcessingException {
    assertThat(response.status()).as(response.text()).isEqualTo(200);
    return new ObjectMapper().readTree(response.text());
  }

  @OnAllStores
  void operationIsFoundByTheClientsOwnValuesAndListedAsUnknown(String store) throws Exception {
    JsonNode found = unknown(store);

    JsonNode listed = json(admin("GET", "/operations?route=default", null)).get("operations");

    assertThat(found.get("state").asText()).isEqualTo("unknown");
    assertThat(found.has("overdue_ms")).isTrue();
    assertThat(listed).hasSize(1);
    assertThat(listed.get(0).get("id")).isEqualTo(found.get("id"));
  }

  @OnAllStores
  void responseThatAnOperatorGivesIsReplayedAndStandsInTheHistory(String store) throws Exception {
    JsonNode found = unknown(store);

    RawResponse done =
        resolve(
            found,
            1,
            ",\"action\":\"complete\",\"response\":{\"status\":201,\"headers\":{\"Location\":"
                + "\"/orders/17\"},\"body\":\"made\"}");
    RawResponse replay = ask();
    JsonNode shown =
        json(admin("GET", "/operations/" + found.get("id").asText() + "?body=1", null));

    assertThat(done.status()).as(done.text()).isEqualTo(200);
    assertThat(replay.status()).isEqualTo(201);
    assertThat(replay.text()).isEqualTo("made");
    assertThat(replay.header("Location")).isEqualTo("/orders/17");
    assertThat(replay.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(upstream.requests()).isOne();
    assertThat(shown.get("response").get("body").asText()).isEqualTo("made");
    assertThat(shown.get("history").get(0).get("who").asText()).isEqualTo("ann");
  }

  @OnAllStores
  void releasedKeyIsNewAgain(String store) throws Exception {
    JsonNode found = unknown(store);
    upstream.script((request, wire) -> wire.respond(200, "second"));

    RawResponse held = ask();
    RawResponse done = resolve(found, 1, ",\"action\":\"release\"");
    RawResponse again = ask();

    assertThat(held.status()).isEqualTo(409);
    assertThat(done.status()).as(done.text()).isEqualTo(200);
    assertThat(again.text()).isEqualTo("second");
    assertThat(upstream.requests()).isEqualTo(2);
  }

  /** It has the same attempt, and another holder. */
  @OnAllStores
  void keyReleasedAndBegunAnewIsNotResolvedByWhoSawTheOneBefore(String store) throws Exception {
    JsonNode found = unknown(store);
    String seen = ",\"holder\":\"" + found.get("holder").asText() + "\",\"action\":\"release\"";
    RawResponse first = resolve(found, 1, seen);
    assertThat(ask().status()).isEqualTo(502);

    RawResponse late = resolve(found, 1, seen);

    assertThat(first.status()).as(first.text()).isEqualTo(200);
    assertThat(late.status()).as(late.text()).isEqualTo(409);
    assertThat(ask().status()).isEqualTo(409);
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @OnAllStores
  void attemptThatIsNotTheCurrentOneDecidesNothing(String store) throws Exception {
    JsonNode found = unknown(store);

    RawResponse refused = resolve(found, 2, ",\"action\":\"release\"");

    assertThat(refused.status()).isEqualTo(409);
    assertThat(ask().status()).isEqualTo(409);
    assertThat(upstream.requests()).isOne();
  }
}
