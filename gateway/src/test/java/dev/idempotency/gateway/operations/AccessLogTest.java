package dev.idempotency.gateway.operations;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.gateway.exchange.ExchangeListener.Summary;
import dev.idempotency.gateway.exchange.Result;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccessLogTest {

  private static final Instant NOON = Instant.parse("2026-11-29T12:00:00Z");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Summary DONE =
      new Summary("create-order", Result.COMPLETED, 201, 2, false, 12_345_678, 11_000_999, 999);

  private final CapturedLog log = new CapturedLog(AccessLog.LOGGER);

  @AfterEach
  void close() {
    log.close();
  }

  private String line(Logging.Format format, String method, String path) {
    RequestHead head = new RequestHead(method, path, null, new Headers());
    new AccessLog(format, () -> NOON).closed(head, DONE);
    return log.messages().get(log.messages().size() - 1);
  }

  private JsonNode json(String path) throws JsonProcessingException {
    return JSON.readTree(line(Logging.Format.JSON, "POST", path));
  }

  @Test
  void endedExchangeIsOneJsonLine() {
    assertThat(line(Logging.Format.JSON, "POST", "/orders"))
        .isEqualTo(
            "{\"ts\":\"2026-11-29T12:00:00.000Z\",\"method\":\"POST\",\"path\":\"/orders\","
                + "\"route\":\"create-order\",\"outcome\":\"completed\",\"status\":201,"
                + "\"attempt\":2,\"ms\":12.345,\"upstream_ms\":11.000,\"store_ms\":0.000}");
  }

  @Test
  void derivedKeyIsSaidToBeOne() {
    Summary derived = new Summary("r", Result.REPLAYED, 201, 0, true, 1_000, 0, 0);
    RequestHead head = new RequestHead("POST", "/", null, new Headers());
    new AccessLog(Logging.Format.JSON, () -> NOON).closed(head, derived);
    new AccessLog(Logging.Format.TEXT, () -> NOON).closed(head, derived);

    assertThat(log.messages().get(0)).contains(",\"attempt\":0,\"key\":\"derived\",\"ms\":");
    assertThat(log.messages().get(1)).contains(" attempt=0 key=derived ms=");
  }

  @Test
  void endedExchangeIsOneTextLine() {
    assertThat(line(Logging.Format.TEXT, "POST", "/orders"))
        .isEqualTo(
            "2026-11-29T12:00:00.000Z \"POST /orders\" route=create-order outcome=completed"
                + " status=201 attempt=2 ms=12.345 upstream_ms=11.000 store_ms=0.000");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/\"},{\"admin\":true",
        "/back\\slash\\",
        "/line\r\nbreak\u2028\u2029",
        "/nul\0esc\u001b[31m\u009b31m\u007f",
        "/Größe/数/😀",
        "/half\ud83d",
        "/half\ude00"
      })
  void hostilePathStaysInItsMember(String path) throws JsonProcessingException {
    assertThat(json(path).get("path").textValue()).isEqualTo(path);
    assertThat(json(path).size()).isEqualTo(10);
    assertThat(line(Logging.Format.JSON, "POST", path)).doesNotContainPattern("[\\p{Cc}\u2028]");
    assertThat(line(Logging.Format.TEXT, "POST", path)).doesNotContainPattern("[\\p{Cc}\u2028]");
  }

  @Test
  void randomPathIsReadBackAsItWas() throws JsonProcessingException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      StringBuilder path = new StringBuilder("/");
      for (int n = random.nextInt(20); n > 0; n--) {
        path.append(
            (char) (random.nextBoolean() ? random.nextInt(0x100) : random.nextInt(0x10000)));
      }
      assertThat(json(path.toString()).get("path").textValue())
          .as("seed %d, round %d", seed, i)
          .isEqualTo(path.toString());
    }
  }

  @Test
  void longPathIsCut() throws JsonProcessingException {
    assertThat(json("/" + "x".repeat(5_000)).get("path").textValue())
        .hasSize(1_027)
        .endsWith("x...");
  }

  @ParameterizedTest
  @ValueSource(strings = {"JSON", "TEXT"})
  void queryKeyAndHeadersAreNotWritten(Logging.Format format) {
    new AccessLog(format).closed(Scripted.head("/orders?card=4111"), DONE);

    assertThat(log.messages())
        .hasSize(1)
        .first()
        .asString()
        .contains("/orders")
        .doesNotContain("card", "4111", "of-the-client", "Authorization");
  }
}
