package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Whoever reads the store, the logs or the metrics learns no secret: marks are sent in every place
 * where a request or a response can have one, and then looked for everywhere.
 */
class SecretsAtRestTest {

  private static final String TOKEN = "token+MARK1/7f3a9c";
  private static final String KEY = "key-MARK2-51d20e";
  private static final String QUERY = "query-MARK3-8be411";
  private static final String REQUEST = "request-MARK4-c02d77";
  private static final String CARD = "4111MARK5111>1111?";
  private static final String COOKIE = "cookie-MARK6-93aa10";
  private static final String RECEIPT = "receipt-MARK7-d41d8c";
  private static final String HEADER = "header-MARK8-e3b0c4";

  private final List<String> logged = new CopyOnWriteArrayList<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          String trace =
              event.getThrowableProxy() == null
                  ? ""
                  : ThrowableProxyUtil.asString(event.getThrowableProxy());
          logged.add(
              event.getFormattedMessage()
                  + event.getKeyValuePairs()
                  + event.getMDCPropertyMap()
                  + trace);
        }
      };

  private final List<Appender<ILoggingEvent>> others = new ArrayList<>();
  private Level level;

  @TempDir private Path folder;
  private RedisServer redis;
  private ScriptedUpstream upstream;

  @BeforeEach
  void start() throws IOException {
    redis = RedisServer.start();
    upstream = ScriptedUpstream.ok();
    upstream.script(
        (request, wire) ->
            wire.respond(
                201,
                "{\"receipt\":\"" + RECEIPT + "\",\"card\":{\"number\":\"" + CARD + "\"}}",
                "Content-Type: application/json",
                "ETag: \"of-the-whole\"",
                "Set-Cookie: id=" + COOKIE,
                "X-Account: " + HEADER));
    for (String name : List.of("k1", "k2")) {
      byte[] key = new byte[32];
      key[0] = (byte) name.charAt(1);
      Files.writeString(folder.resolve(name), Base64.getEncoder().encodeToString(key));
    }
    Files.writeString(folder.resolve("secret"), "a secret of fingerprints");
    level = root().getLevel();
    root().setLevel(Level.DEBUG);
    // The console need not show all that.
    root().iteratorForAppenders().forEachRemaining(others::add);
    others.forEach(root()::detachAppender);
    appender.setContext(root().getLoggerContext());
    appender.start();
    root().addAppender(appender);
  }

  @AfterEach
  void stop() {
    root().detachAppender(appender);
    others.forEach(root()::addAppender);
    root().setLevel(level);
    upstream.close();
    redis.close();
  }

  private static Logger root() {
    return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  }

  private TestGateway gateway(String encryption, String... route) {
    String store = "{ url: \"" + redis.url() + "\", timeout: 10s" + encryption + " }";
    return TestGateway.start(
        "secret: { file: "
            + folder.resolve("secret")
            + " }\nlog: { access: true }\n"
            + TestGateway.yaml(upstream.url(), store, route));
  }

  private String encryption(String... ids) {
    List<String> keys = new ArrayList<>();
    for (String id : ids) {
      keys.add("{ id: " + id + ", file: " + folder.resolve(id) + " }");
    }
    return ", compress: 1B, encryption: { keys: [" + String.join(", ", keys) + "] }";
  }

  private static byte[] request(String body) {
    return request(KEY, body);
  }

  private static byte[] request(String key, String body) {
    String text =
        "POST /pay?account="
            + QUERY
            + " HTTP/1.1\r\nHost: gw.test\r\nAuthorization: Bearer "
            + TOKEN
            + "\r\nIdempotency-Key: "
            + key
            + "\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\nConnection: close\r\n\r\n"
            + body;
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** One operation, its replay, and every kind of refusal that speaks of a request. */
  private String talk(TestGateway gateway) {
    String body = "{\"card\":\"" + REQUEST + "\"}";
    StringBuilder problems = new StringBuilder();
    RawResponse first = once(gateway.port(), request(body));
    assertThat(first.status()).isEqualTo(201);
    RawResponse replay = once(gateway.port(), request(body));
    assertThat(replay.isReplay()).isTrue();
    for (String other :
        List.of(
            new String(request("{\"card\":\"" + REQUEST + "2\"}"), StandardCharsets.ISO_8859_1),
            new String(request(KEY + "\u00e9", body), StandardCharsets.ISO_8859_1))) {
      RawResponse refused = once(gateway.port(), other.getBytes(StandardCharsets.ISO_8859_1));
      assertThat(refused.status()).isIn(400, 422);
      problems.append(refused.headerLines()).append(refused.text()).append('\n');
    }
    return problems.toString();
  }

  private static String metrics(TestGateway gateway) {
    byte[] question = RawClient.request("GET", "/metrics", null, null, null);
    return once(gateway.adminPort(), question).text();
  }

  /** Every key, and every value as it is and as Redis dumps it. */
  private String stored() {
    StringBuilder all = new StringBuilder();
    List<String> keys = redis.call("KEYS", "*").lines().toList();
    assertThat(keys).isNotEmpty();
    for (String key : keys) {
      String value = redis.call("GET", key);
      assertThat(value).as("the value of %s", key).isNotNull();
      all.append(key).append('\n').append(value).append('\n').append(redis.call("DUMP", key));
    }
    return all.toString();
  }

  private static Map<String, List<String>> marks() {
    Map<String, List<String>> marks = new LinkedHashMap<>();
    for (String mark : List.of(TOKEN, KEY, QUERY, REQUEST, CARD, COOKIE, RECEIPT, HEADER)) {
      marks.put(mark, forms(mark));
    }
    return marks;
  }

  /** The mark itself, in hexadecimal, URL-encoded, and in base64 at each of its three offsets. */
  private static List<String> forms(String mark) {
    byte[] bytes = mark.getBytes(StandardCharsets.US_ASCII);
    String hex = HexFormat.of().formatHex(bytes);
    List<String> forms =
        new ArrayList<>(
            List.of(
                mark,
                hex,
                hex.toUpperCase(Locale.ROOT),
                URLEncoder.encode(mark, StandardCharsets.US_ASCII)));
    for (int offset = 0; offset < 3; offset++) {
      byte[] shifted = new byte[offset + bytes.length];
      System.arraycopy(bytes, 0, shifted, offset, bytes.length);
      for (Base64.Encoder encoder : List.of(Base64.getEncoder(), Base64.getUrlEncoder())) {
        String text = encoder.withoutPadding().encodeToString(shifted);
        // Its ends depend on what stands around the mark.
        forms.add(text.substring(offset == 0 ? 0 : 4, text.length() - 4));
      }
    }
    return forms;
  }

  private static List<String> found(String where) {
    List<String> found = new ArrayList<>();
    marks()
        .forEach(
            (mark, forms) -> {
              if (forms.stream().anyMatch(where::contains)) {
                found.add(mark);
              }
            });
    return found;
  }

  @Test
  void markIsFoundInEveryForm() {
    for (String around : List.of("", "x", "xy", "xyz")) {
      byte[] text = (around + CARD + around).getBytes(StandardCharsets.US_ASCII);
      for (String where :
          List.of(
              around + CARD,
              HexFormat.of().formatHex(text),
              URLEncoder.encode(around + CARD, StandardCharsets.US_ASCII),
              Base64.getEncoder().encodeToString(text),
              Base64.getUrlEncoder().withoutPadding().encodeToString(text))) {
        assertThat(found("before" + where + "behind")).as(where).containsExactly(CARD);
      }
    }
  }

  @Test
  void encryptedStoreAndLogsAndMetricsAndProblemsTellNothing() {
    String problems;
    String metrics;
    try (TestGateway gateway = gateway(encryption("k1"))) {
      problems = talk(gateway);
      metrics = metrics(gateway);
    }
    assertThat(found(stored())).as("Redis").isEmpty();
    assertThat(found(String.join("\n", logged))).as("logs").isEmpty();
    assertThat(logged).anyMatch(line -> line.contains("/pay"));
    assertThat(found(metrics)).as("metrics").isEmpty();
    assertThat(found(problems)).as("problems").isEmpty();
  }

  @Test
  void storeWithoutEncryptionHasTheResponsesOwnMarksAndNoOthers() {
    try (TestGateway gateway = gateway("")) {
      talk(gateway);
    }
    assertThat(found(stored())).as("Redis").containsExactlyInAnyOrder(CARD, RECEIPT, HEADER);
    assertThat(found(String.join("\n", logged))).as("logs").isEmpty();
  }

  @Test
  void droppedAndRedactedMarksAreNotStoredEvenInClear() {
    String route = "response: { drop: [X-Account], redact: [/card/number] }";
    try (TestGateway gateway = gateway("", route)) {
      talk(gateway);
      RawResponse replay = once(gateway.port(), request("{\"card\":\"" + REQUEST + "\"}"));
      assertThat(replay.text())
          .isEqualTo("{\"receipt\":\"" + RECEIPT + "\",\"card\":{\"number\":\"[redacted]\"}}");
      assertThat(replay.header("Idempotency-Redacted")).isEqualTo("true");
      assertThat(replay.header("ETag")).isNull();
    }
    assertThat(found(stored())).as("Redis").containsExactly(RECEIPT);
  }

  @Test
  void responseThatCannotBeRedactedIsGivenOnceAndNeverStored() {
    upstream.script(
        (request, wire) -> wire.respond(201, "card " + CARD, "Content-Type: text/plain"));
    try (TestGateway gateway = gateway("", "response: { redact: [/card] }")) {
      assertThat(once(gateway.port(), request("{}")).text()).isEqualTo("card " + CARD);
      RawResponse retry = once(gateway.port(), request("{}"));
      assertThat(retry.status()).isEqualTo(409);
      assertThat(retry.text()).contains("response-not-kept");
    }
    assertThat(upstream.requests()).isEqualTo(1);
    assertThat(found(stored())).as("Redis").isEmpty();
  }

  @Test
  void gatewaysWithOldAndNewKeyReplayWhatEachOtherStored() {
    try (TestGateway old = gateway(encryption("k1", "k2"));
        TestGateway rotated = gateway(encryption("k2", "k1"))) {
      List<TestGateway> both = List.of(old, rotated);
      for (TestGateway first : both) {
        for (TestGateway second : both) {
          byte[] request = request(KEY + both.indexOf(first) + both.indexOf(second), "{}");
          RawResponse answer = once(first.port(), request);
          RawResponse replay = once(second.port(), request);
          assertThat(replay.isReplay()).isTrue();
          assertThat(replay.body()).isEqualTo(answer.body());
        }
      }
      assertThat(upstream.requests()).isEqualTo(4);
    }
  }

  @Test
  void responseOfAKeyThatIsGoneIsNotReplayedAndNothingRunsAgain() {
    try (TestGateway old = gateway(encryption("k1"))) {
      assertThat(once(old.port(), request("{}")).status()).isEqualTo(201);
    }
    for (String other : List.of(encryption("k2"), "")) {
      try (TestGateway gateway = gateway(other)) {
        RawResponse retry = once(gateway.port(), request("{}"));
        assertThat(retry.status()).isEqualTo(409);
        assertThat(retry.text()).contains("response-not-kept");
        assertThat(metrics(gateway)).contains("gateway_unreadable_responses_total 1.0");
      }
    }
    assertThat(upstream.requests()).isEqualTo(1);
    assertThat(logged).anyMatch(line -> line.contains("its key \"k1\" is not among the keys"));
  }

  @Test
  void responseFromBeforeEncryptionIsReplayed() {
    byte[] body;
    try (TestGateway plain = gateway("")) {
      body = once(plain.port(), request("{}")).body();
    }
    try (TestGateway gateway = gateway(encryption("k1"))) {
      RawResponse replay = once(gateway.port(), request("{}"));
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.body()).isEqualTo(body);
    }
  }

  @Test
  void longResponseIsReplayedByteForByteFromItsEnvelope() {
    String body = "{\"a\":\"" + "words and words ".repeat(30_000) + "\"}";
    upstream.script((request, wire) -> wire.respond(200, body, "Content-Type: application/json"));
    try (TestGateway gateway = gateway(encryption("k1"))) {
      assertThat(once(gateway.port(), request("{}")).text()).isEqualTo(body);
      for (int i = 0; i < 3; i++) {
        RawResponse replay = once(gateway.port(), request("{}"));
        assertThat(replay.isReplay()).isTrue();
        assertThat(replay.text()).isEqualTo(body);
      }
    }
    assertThat(stored().length()).isLessThan(100_000);
  }

  @Test
  void recordCopiedToAnotherKeyInRedisIsNotReplayed() {
    try (TestGateway gateway = gateway(encryption("k1"))) {
      once(gateway.port(), request("one", "{}"));
      String one = redis.call("KEYS", "*");
      once(gateway.port(), request("other", "{}"));
      String other = redis.call("KEYS", "*").lines().filter(k -> !k.equals(one)).findFirst().get();
      assertThat(redis.call("COPY", one, other, "REPLACE")).isEqualTo("1");

      assertThat(once(gateway.port(), request("other", "{}")).status()).isEqualTo(409);
      assertThat(once(gateway.port(), request("one", "{}")).isReplay()).isTrue();
    }
    assertThat(upstream.requests()).isEqualTo(2);
  }
}
