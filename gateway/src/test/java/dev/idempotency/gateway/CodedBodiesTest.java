package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bodies with a content coding reach the upstream as they came; the fingerprint counts what they
 * are without a coding that is known. What a client has signed arrives as it was signed.
 */
class CodedBodiesTest {

  private static final String JSON = "{\"amount\": 10,  \"currency\":\"EUR\"}";

  private static final int GIBIBYTE = 1 << 30;
  private static final int MEMBERS = 64;

  /** The hash of what the upstream got, as it got it. */
  private final ScriptedUpstream upstream =
      ScriptedUpstream.start((request, wire) -> wire.respond(200, sha256(request.body())));

  private final TestGateway gateway =
      EdgeYaml.of(upstream.url()).limits("body-budget: 4MiB").start();

  @AfterEach
  void stop() {
    await().until(() -> gateway.gateway().heldBytes() == 0);
    gateway.close();
    upstream.close();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] gzip(byte[] content) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
        out.write(content);
      }
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] deflate(byte[] content, int level) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (var out = new DeflaterOutputStream(bytes, new Deflater(level))) {
        out.write(content);
      }
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private RawResponse post(String key, String coding, byte[] body) {
    return RawClient.once(
        gateway.port(),
        RawClient.request(
            "POST", "/keyed/a", key, "application/json", body, "Content-Encoding: " + coding));
  }

  static Stream<Arguments> coded() {
    byte[] whole = gzip(ascii(JSON));
    return Stream.of(
        Arguments.of("gzip", whole),
        Arguments.of("gzip", Arrays.copyOf(whole, whole.length - 9)),
        Arguments.of("gzip", ascii("no gzip at all")),
        Arguments.of("deflate", deflate(ascii(JSON), 9)),
        Arguments.of("br", new byte[] {11, 2, -128, '{', '}', 3}),
        Arguments.of("x-of-tomorrow", ascii(JSON)),
        Arguments.of("gzip, gzip", gzip(whole)),
        Arguments.of("gzip", new byte[0]));
  }

  @ParameterizedTest
  @MethodSource("coded")
  void codedBodyIsForwardedAsItCameAndReplayed(String coding, byte[] body) {
    RawResponse first = post("k", coding, body);
    assertThat(first.status()).isEqualTo(200);
    assertThat(first.text()).isEqualTo(sha256(body));
    assertThat(upstream.last().headers("Content-Encoding")).containsExactly(coding);
    assertThat(upstream.last().header("Content-Length")).isEqualTo("" + body.length);

    RawResponse retry = post("k", coding, body);
    assertThat(retry.isReplay()).isTrue();
    assertThat(retry.text()).isEqualTo(first.text());
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void sameContentInOtherBytesIsTheSameRequestUnderTheSameCodingOnly() {
    byte[] content = ascii(JSON.repeat(20));
    assertThat(post("k", "deflate", deflate(content, 9)).status()).isEqualTo(200);
    assertThat(post("k", "deflate", deflate(content, 0)).isReplay()).isTrue();
    assertThat(post("k", "gzip", gzip(content)).problem()).isEqualTo("key-reused");
    assertThat(post("k", "identity", content).problem()).isEqualTo("key-reused");
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void sameBytesUnderAnotherCodingAreAnotherRequest() {
    byte[] body = ascii(JSON);
    assertThat(post("k", "x-a", body).status()).isEqualTo(200);
    assertThat(post("k", "x-b", body).problem()).isEqualTo("key-reused");
    assertThat(post("k", "identity", body).problem()).isEqualTo("key-reused");
  }

  @Test
  void identityIsNoCoding() {
    assertThat(post("k", "identity", ascii("{\"a\":1,\"b\":2}")).status()).isEqualTo(200);
    assertThat(post("k", "identity", ascii("{\"b\":2, \"a\":1}")).isReplay()).isTrue();
  }

  /** A gibibyte of zeros: the same member again and again (RFC 1952 §2.2). */
  private static byte[] bomb() {
    byte[] member = gzip(new byte[GIBIBYTE / MEMBERS]);
    byte[] bomb = new byte[MEMBERS * member.length];
    for (int i = 0; i < MEMBERS; i++) {
      System.arraycopy(member, 0, bomb, i * member.length, member.length);
    }
    return bomb;
  }

  @Test
  void bombTakesNoMoreMemoryThanItsBytesOnTheWire() {
    byte[] flat = bomb();
    byte[] nested = gzip(flat);
    AtomicLong most = new AtomicLong();
    upstream.script(
        (request, wire) -> {
          most.set(gateway.gateway().heldBytes());
          wire.respond(200, sha256(request.body()));
        });
    for (byte[] body : List.of(nested, flat)) {
      assertThat(post("k" + body.length, "br", body).text()).isEqualTo(sha256(body));
      assertThat(most.get()).isLessThanOrEqualTo(2L * body.length + (64 << 10));
    }
    byte[] two = Arrays.copyOf(flat, 2 * flat.length);
    System.arraycopy(flat, 0, two, flat.length, flat.length);
    assertThat(post("two", "gzip", two).problem()).isEqualTo("body-too-large");
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void bombIsRefusedAndItsKeyStaysFree() {
    RawResponse refused = post("k", "gzip", bomb());
    assertThat(refused.status()).isEqualTo(413);
    assertThat(refused.problem()).isEqualTo("body-too-large");
    assertThat(refused.text()).contains("Content-Encoding is undone");
    assertThat(post("k", "gzip, gzip", gzip(bomb())).status()).isEqualTo(413);
    assertThat(upstream.requests()).isZero();
    assertThat(post("k", "gzip", gzip(ascii(JSON))).status()).isEqualTo(200);
  }

  static List<byte[]> signed() {
    return List.of(
        ascii("{ \"b\" :1.0,\r\n\t\"a\": \"\\u00e9\" , \"a\":1e2 }\n "),
        ascii("b=2&a=1&a=+%2b&c&=&%zz"),
        gzip(ascii(JSON)),
        new byte[] {'"', (byte) 0xff, (byte) 0xc0, (byte) 0x80, 0, (byte) 0xed, (byte) 0xa0, '"'},
        new byte[0]);
  }

  static Stream<Arguments> signedOnEveryWay() {
    return signed().stream()
        .flatMap(
            body ->
                Stream.of("/keyed/a", "/plain")
                    .flatMap(
                        path ->
                            Stream.of(false, true).map(split -> Arguments.of(path, body, split))));
  }

  @ParameterizedTest
  @MethodSource("signedOnEveryWay")
  void signedBodyArrivesAsItWasSigned(String path, byte[] body, boolean split) {
    String[] signatures = {
      "Content-Digest: sha-256=:" + sha256(body) + "=:",
      "Signature-Input: sig1=(\"@method\" \"content-digest\");created=1618884473;keyid=\"k\"",
      "Signature: sig1=:K2qGT5srn2OGbOIDzQ6kYT+ruaycnDAAUpKv+ePFfD0RAxn/1BUe/A==:",
      "X-Hub-Signature-256: sha256=" + sha256(body),
      "Stripe-Signature: t=1492774577,v1=5257a869,v0=6ffbb59b",
      "Authorization: AWS4-HMAC-SHA256 Credential=a/b/c,  SignedHeaders=host;x-amz-date"
    };
    byte[] request =
        split
            ? inChunksOfOne(path, body, signatures)
            : RawClient.request("POST", path, "k", "application/json", body, signatures);
    RawResponse response = RawClient.once(gateway.port(), request);
    assertThat(response.status()).isEqualTo(200);
    assertThat(response.text()).isEqualTo(sha256(body));
    for (String line : signatures) {
      assertThat(upstream.last().headerLines()).contains(line);
    }
  }

  private static byte[] inChunksOfOne(String path, byte[] body, String... headerLines) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(ascii("POST " + path + " HTTP/1.1\r\nHost: gw.test\r\n"));
    bytes.writeBytes(ascii("Idempotency-Key: k\r\nContent-Type: application/json\r\n"));
    bytes.writeBytes(ascii("Transfer-Encoding: chunked\r\n"));
    for (String line : headerLines) {
      bytes.writeBytes(ascii(line + "\r\n"));
    }
    bytes.writeBytes(ascii("\r\n"));
    for (byte one : body) {
      bytes.writeBytes(ascii("1\r\n"));
      bytes.write(one);
      bytes.writeBytes(ascii("\r\n"));
    }
    bytes.writeBytes(ascii("0\r\n\r\n"));
    return bytes.toByteArray();
  }

  /** Both ways of sending are one request. */
  @ParameterizedTest
  @ValueSource(strings = {"gzip", "identity"})
  void howABodyIsFramedMakesNoOtherRequest(String coding) {
    byte[] body = ascii(JSON);
    String line = "Content-Encoding: " + coding;
    byte[] chunked = inChunksOfOne("/keyed/a", body, line);
    assertThat(RawClient.once(gateway.port(), chunked).status()).isEqualTo(200);
    assertThat(post("k", coding, body).isReplay()).isTrue();
  }
}
