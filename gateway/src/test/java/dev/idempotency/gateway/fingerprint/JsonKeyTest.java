package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonKeyTest {

  private static final long LIMIT = 1 << 20;

  private static Reading find(String pointer, String body) {
    return find(pointer, body.getBytes(UTF_8), "Content-Type", "application/json");
  }

  private static Reading find(String pointer, byte[] body, String... fields) {
    return new JsonKey(pointer, LIMIT).find(RequestHead.of("POST", "/", Headers.of(fields)), body);
  }

  private static String reason(Reading reading) {
    return reading instanceof Reading.Malformed malformed ? malformed.reason() : reading.toString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/k      | {\"k\":\"abc\"}                                   | abc",
        "/k      | {\"a\":{\"k\":1,\"k\":2},\"k\":\"abc\",\"z\":[[]]}  | abc",
        "/k      | {\"\\u006b\":\"\\u0061bc\"}                       | abc",
        "/k      | {\"k\":\"a b\"}                                   | a b",
        "/k      | {\"k\":\"\\\"abc\\\"\"}                           | \"abc\"",
        "/m/k    | {\"m\":{\"a\":1,\"k\":\"abc\"},\"k\":\"x\"}         | abc",
        "/m/1/k  | {\"m\":[{\"k\":\"x\"},{\"k\":\"abc\"},{\"k\":\"y\"}]} | abc",
        "/0      | [\"abc\",\"x\"]                                   | abc",
        "/1      | {\"1\":\"abc\"}                                   | abc",
        "/a~1b   | {\"a/b\":\"abc\",\"a\":{\"b\":\"x\"}}               | abc",
        "/m~0n   | {\"m~n\":\"abc\"}                                 | abc",
        "/       | {\"\":\"abc\"}                                    | abc",
        "/é      | {\"\\u00e9\":\"abc\"}                             | abc",
        "/k      | ` \t\r\n{ \"k\" : \"abc\" } \n`                   | abc",
        // A lone surrogate elsewhere is JSON, if no text.
        "/k      | {\"s\":\"\\ud83d\",\"k\":\"abc\"}                 | abc",
      })
  void stringThatThePointerNamesIsTheKey(String pointer, String body, String key) {
    assertThat(find(pointer, body)).isEqualTo(new Reading.Present(new IdempotencyKey(key)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/k    | {}",
        "/k    | {\"k\":null}",
        "/k    | {\"K\":\"abc\"}",
        "/k    | {\"m\":{\"k\":\"abc\"}}",
        "/k    | [{\"k\":\"abc\"}]",
        "/k    | \"k\"",
        "/k    | 17",
        "/m/k  | {\"m\":null}",
        "/m/k  | {\"m\":\"k\"}",
        "/01   | [\"a\",\"b\"]",
        "/-    | [\"a\"]",
        "/2    | [\"a\"]",
      })
  void bodyWithoutThatMemberHasNoKey(String pointer, String body) {
    assertThat(find(pointer, body)).isEqualTo(IdempotencyKey.absent());
  }

  @Test
  void requestWithoutContentHasNoKey() {
    assertThat(find("/k", new byte[0])).isEqualTo(IdempotencyKey.absent());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/k    | {\"k\":17}                              | a number",
        "/k    | {\"k\":1.5e3}                           | a number",
        "/k    | {\"k\":true}                            | a truth value",
        "/k    | {\"k\":{\"k\":\"secret\"}}              | an object",
        "/k    | {\"k\":[\"secret\"]}                    | an array",
        "/k    | {\"k\":\"\"}                            | empty",
        "/k    | {\"k\":\" \"}                           | blanks",
        "/k    | {\"k\":\"a\\nb\"}                       | outside printable ASCII",
        "/k    | {\"k\":\"caf\\u00e9\"}                  | outside printable ASCII",
        "/k    | {\"k\":\"secret\",\"k\":\"secret\"}     | twice",
        "/k    | {\"k\":\"secret\",\"\\u006b\":null}     | twice",
        "/k    | {\"k\":null,\"k\":\"secret\"}           | twice",
        "/m/k  | {\"m\":{\"k\":\"secret\"},\"m\":{}}     | twice",
        "/m/k  | {\"m\":{\"k\":\"a\",\"k\":\"secret\"}}  | twice",
        "/k    | {\"k\":\"secret\"                       | broken",
        "/k    | {\"k\":\"secret\",}                     | broken",
        "/k    | {\"k\":\"secret\",\"a\":01}             | broken",
        "/k    | {\"k\":\"secret\",\"a\":NaN}            | broken",
        "/k    | {'k':\"secret\"}                        | broken",
        "/k    | {\"k\":\"secret\"} {}                   | follows",
        "/k    | {\"k\":\"secret\"}secret                | broken",
        "/k    | {\"k\":\"secret\"/* */}                 | broken",
        "/k    | {\"a\":\"\\x\",\"k\":\"secret\"}        | broken",
        "/k    | \uFEFF{\"k\":\"secret\"}                | broken",
        "/k    | ` `                                     | blank",
      })
  void whatCanNotBeReadInOneWayIsRefused(String pointer, String body, String what) {
    assertThat(reason(find(pointer, body))).contains(what).doesNotContain("secret");
  }

  @Test
  void anythingButJsonInUtf8IsRefused() {
    byte[] body = "{\"k\":\"abc\"}".getBytes(UTF_8);
    for (String type : new String[] {"text/plain", "application/json;charset=utf-16", "x"}) {
      assertThat(reason(find("/k", body, "Content-Type", type))).contains("Content-Type");
    }
    assertThat(reason(find("/k", body))).contains("Content-Type");
    String json = "application/json";
    assertThat(reason(find("/k", body, "Content-Type", json, "content-type", json)))
        .contains("Content-Type");
    byte[] wide = "{\"k\":\"abc\"}".getBytes(StandardCharsets.UTF_16LE);
    assertThat(reason(find("/k", wide, "Content-Type", json))).contains("broken");
    byte[] latin = "{\"a\":\"\u00e9\",\"k\":\"abc\"}".getBytes(StandardCharsets.ISO_8859_1);
    assertThat(reason(find("/k", latin, "Content-Type", json))).contains("not UTF-8");
  }

  @Test
  void codingsThatAreKnownAreUndone() throws IOException {
    byte[] body = "{\"k\":\"abc\"}".getBytes(UTF_8);
    Reading key = new Reading.Present(new IdempotencyKey("abc"));

    assertThat(coded("gzip", gzip(body))).isEqualTo(key);
    assertThat(coded("X-GZIP", gzip(body))).isEqualTo(key);
    assertThat(coded("deflate", deflated(body))).isEqualTo(key);
    assertThat(coded("gzip , deflate", deflated(gzip(body)))).isEqualTo(key);
    assertThat(coded("identity", body)).isEqualTo(key);
  }

  @Test
  void codedBodyThatIsReadByNobodyOrByFewIsRefused() throws IOException {
    byte[] secret = gzip("{\"k\":\"secret\"}".getBytes(UTF_8));
    byte[] plain = "{\"k\":\"secret\"}".getBytes(UTF_8);

    assertThat(reason(coded("gzip", plain))).contains("not what its Content-Encoding says");
    byte[] cut = Arrays.copyOf(secret, secret.length - 1);
    assertThat(reason(coded("gzip", cut))).contains("not what its Content-Encoding says");
    byte[] longer = Arrays.copyOf(secret, secret.length + 1);
    assertThat(reason(coded("gzip", longer))).contains("not what its Content-Encoding says");
    for (String coding : new String[] {"br", "", "gzip,", "gzip, gzip, gzip", "identity, gzip"}) {
      assertThat(reason(coded(coding, secret))).contains("can't be undone");
    }
    assertThat(reason(coded("gzip", gzip(gzip(plain))))).contains("not UTF-8");
    assertThat(reason(coded("gzip", gzip(new byte[0])))).contains("blank");
  }

  @Test
  void codedBodyIsReadUpToTheLimit() throws IOException {
    byte[] fits = ("{\"k\":\"abc\"}" + " ".repeat((int) LIMIT - 11)).getBytes(UTF_8);
    assertThat(coded("gzip", gzip(fits))).isInstanceOf(Reading.Present.class);
    byte[] larger = Arrays.copyOf(fits, fits.length + 1);
    assertThat(reason(coded("gzip", gzip(larger)))).contains("larger than the 1048576 bytes");
    // What is in between counts, too.
    assertThat(reason(coded("gzip, gzip", gzip(gzip(new byte[64 << 20])))))
        .contains("larger than the 1048576 bytes");
  }

  private static Reading coded(String coding, byte[] body) {
    return find("/k", body, "Content-Type", "application/json", "Content-Encoding", coding);
  }

  private static byte[] gzip(byte[] content) throws IOException {
    ByteArrayOutputStream coded = new ByteArrayOutputStream();
    try (OutputStream gzip = new GZIPOutputStream(coded)) {
      gzip.write(content);
    }
    return coded.toByteArray();
  }

  private static byte[] deflated(byte[] content) throws IOException {
    ByteArrayOutputStream coded = new ByteArrayOutputStream();
    try (OutputStream deflater = new DeflaterOutputStream(coded)) {
      deflater.write(content);
    }
    return coded.toByteArray();
  }

  @Test
  void everyKindOfJsonIsRead() {
    byte[] body = "{\"k\":\"abc\"}".getBytes(UTF_8);
    for (String type :
        new String[] {"application/json; charset=UTF-8", "Application/Problem+JSON"}) {
      assertThat(find("/k", body, "Content-Type", type)).isInstanceOf(Reading.Present.class);
    }
  }

  @Test
  void whatStandsBesideTheKeyMayBeOfAnySize() {
    String body =
        "{\"n\":" + "9".repeat(100_000) + ",\"s\":\"" + "x".repeat(100_000) + "\",\"k\":\"abc\"}";
    assertThat(find("/k", body)).isInstanceOf(Reading.Present.class);
    assertThat(reason(find("/k", "{\"k\":\"" + "x".repeat(256) + "\"}"))).contains("256");
  }

  @Test
  void deepNestingEndsInARefusal() {
    String deep = "[".repeat(100_000);
    assertThat(reason(find("/k", "{\"a\":" + deep))).contains("nested deeper");
    assertThat(reason(find("/0" + "/0".repeat(600), deep))).contains("nested deeper");
    String fits = "{\"k\":\"abc\",\"a\":" + "[".repeat(499) + "]".repeat(499) + "}";
    assertThat(find("/k", fits)).isInstanceOf(Reading.Present.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "k", "/a~", "/a~2"})
  void whatIsNoPointerIsRefusedAtTheStart(String pointer) {
    assertThatIllegalArgumentException().isThrownBy(() -> new JsonKey(pointer, LIMIT));
  }

  @Test
  void damagedBodiesAreReadWithoutAnException() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    byte[] sound = "{\"a\":[1,{\"k\":\"\\u00e9\"}],\"k\":\"abc\",\"z\":null}".getBytes(UTF_8);
    for (int i = 0; i < 20_000; i++) {
      byte[] body = sound.clone();
      for (int changes = random.nextInt(3) + 1; changes > 0; changes--) {
        body[random.nextInt(body.length)] = (byte) random.nextInt(256);
      }
      assertThat(find("/k", body, "Content-Type", "application/json")).isNotNull();
    }
  }
}
