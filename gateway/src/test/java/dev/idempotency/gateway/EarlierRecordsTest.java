package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Records in Redis as the first build wrote them, which knew version 1 of the fingerprint only:
 * their names are found, an honest retry gets their response, and a reuse of their key is refused.
 * A gateway that is told to write version 1 writes what that build reads.
 *
 * <p>The resource has a line for each record: its name in Redis and its value, both in base64. The
 * last one is a reservation, whose lease was set to end in 1970.
 */
class EarlierRecordsTest {

  private static final String PREFIX = "earlier";
  private static final String VERSION_ONE = "version: 1, ";
  private static final int FINGERPRINT_AT = 34;
  private static final int FINGERPRINT_LENGTH = 1 + 32;

  /**
   * What was sent.
   *
   * @param headers further lines of the head
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Sent(String target, String type, String body, String other, String... headers) {
    byte[] request(String key, String content) {
      String[] lines = Arrays.copyOf(headers, headers.length + 1);
      lines[headers.length] = "Authorization: Bearer somebody";
      byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
      return RawClient.request("POST", target, key, type, bytes, lines);
    }
  }

  private static final String PART = "\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n";
  private static final String GZIP =
      latin("1f8b0800000000000203ab564a54b232ac0500afac1b5607000000");

  static List<Sent> sent() {
    String json = "application/json";
    return List.of(
        new Sent("/j?x=1", json + "; charset=utf-8", "{\"b\":1.0,\"a\":[1]}", "{\"b\":2}"),
        new Sent("/chosen", json, "{\"b\":1,\"t\":1}", "{\"b\":2,\"t\":1}", "X-A: 1"),
        new Sent("/f", "application/x-www-form-urlencoded", "b=1&a=%41", "b=1&a=B"),
        new Sent(
            "/m",
            "multipart/form-data; boundary=x",
            "--x" + PART + "1\r\n--x--\r\n",
            "--x" + PART + "2\r\n--x--\r\n"),
        new Sent("/g", json, GZIP, GZIP + GZIP, "Content-Encoding: gzip"),
        new Sent("/streamed", json, "{\"a\":1}".repeat(3000), "{\"a\":2}".repeat(3000)),
        new Sent("/twice", json, "{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":3}"),
        new Sent("/none", null, "", "x"));
  }

  private static String latin(String hex) {
    return new String(HexFormat.of().parseHex(hex), StandardCharsets.ISO_8859_1);
  }

  /** Of a gateway; {@code version} is an option of all fingerprints, or empty. */
  static String yaml(String upstreamUrl, String prefix, String version) {
    String store = "{ url: \"%s\", timeout: 10s, prefix: %s }";
    return """
        store: %s
        upstreams:
          app: { url: "%s" }
        routes:
          - name: streamed
            path: /streamed
            upstream: app
            retention: 365d
            request: { mode: stream }
            fingerprint: { %sbody: raw }
          - name: chosen
            path: /chosen
            upstream: app
            retention: 365d
            fingerprint: { %signore: [/t], headers: [X-A] }
          - name: all
            path: /**
            upstream: app
            retention: 365d
            fingerprint: { %sbody: canonical }
        """
        .formatted(
            store.formatted(RedisServer.shared().url(), prefix),
            upstreamUrl,
            version,
            version,
            version);
  }

  @BeforeEach
  void load() {
    for (String line : recorded()) {
      String[] fields = line.split(" ", -1);
      RedisServer.shared().call("SET", decoded(fields[0]), decoded(fields[1]));
    }
  }

  private static List<String> recorded() {
    try (InputStream in = EarlierRecordsTest.class.getResourceAsStream("/records/first-build")) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String decoded(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.ISO_8859_1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", VERSION_ONE})
  void recordsOfTheFirstBuildAreReplayedAndGuardTheirKeys(String version) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(yaml(upstream.url(), PREFIX, version))) {
      for (Sent sent : sent()) {
        String key = "k" + sent.target();
        RawResponse retry = RawClient.once(gateway.port(), sent.request(key, sent.body()));
        assertThat(retry.status()).as(sent.target()).isEqualTo(201);
        assertThat(retry.isReplay()).as(sent.target()).isTrue();
        assertThat(retry.text()).isEqualTo("made at " + sent.target());
        RawResponse reuse = RawClient.once(gateway.port(), sent.request(key, sent.other()));
        assertThat(reuse.problem()).as(sent.target()).isEqualTo("key-reused");
      }
      assertThat(upstream.requests()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", VERSION_ONE})
  void reservationOfAFirstBuildThatDiedIsUnknown(String version) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(yaml(upstream.url(), PREFIX, version))) {
      Sent first = sent().get(0);
      RawResponse retry = RawClient.once(gateway.port(), first.request("died", first.body()));
      assertThat(retry.problem()).isEqualTo("outcome-unknown");
      RawResponse reuse = RawClient.once(gateway.port(), first.request("died", first.other()));
      assertThat(reuse.problem()).isEqualTo("key-reused");
      assertThat(upstream.requests()).isZero();
    }
  }

  @Test
  void versionOneIsWrittenAsTheFirstBuildWroteIt() {
    String prefix = "later-" + ProcessHandle.current().pid();
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(yaml(upstream.url(), prefix, VERSION_ONE))) {
      for (Sent sent : sent()) {
        RawClient.once(gateway.port(), sent.request("k" + sent.target(), sent.body()));
      }
      for (String line : recorded().subList(0, sent().size())) {
        String[] fields = line.split(" ", -1);
        String name = decoded(fields[0]).replaceFirst(PREFIX, prefix);
        assertThat(fingerprint(RedisServer.shared().call("GET", name)))
            .isEqualTo(fingerprint(decoded(fields[1])));
      }
    }
  }

  private static String fingerprint(String record) {
    assertThat(record).startsWith("\u0001C");
    return record.substring(FINGERPRINT_AT, FINGERPRINT_AT + FINGERPRINT_LENGTH);
  }
}
