package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.gateway.http.ArrayChunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestFingerprinterTest {

  private static final String JSON = "application/json";

  private final Fingerprinter plain = RequestFingerprinter.create(FingerprintRule.DEFAULT);

  @Test
  void equalDataInOtherSpellingIsTheSameRequest() {
    assertThat(json("{ \"b\": 1.0, \"a\": \"\\u00e9\" }")).isEqualTo(json("{\"a\":\"é\",\"b\":1}"));
    assertThat(json("{\"a\":9007199254740992}")).isNotEqualTo(json("{\"a\":9007199254740993}"));
    assertThat(json("{\"a\":1}").version()).isEqualTo(2);
  }

  @Test
  void ambiguousJsonIsOnlyEqualToTheSameBytes() {
    assertThat(json("{\"a\":1,\"a\":2}")).isEqualTo(json("{\"a\":1,\"a\":2}"));
    assertThat(json("{\"a\":1,\"a\":2}")).isNotEqualTo(json("{\"a\":2}"));
    assertThat(json("{\"a\":1,\"a\":2}")).isNotEqualTo(json("{\"a\":1, \"a\":2}"));
  }

  @Test
  void theSameBytesWithAndWithoutACanonicalFormDiffer() {
    String body = "{\"a\":1}";

    assertThat(json(body)).isNotEqualTo(of(plain, "POST", "/", "text/plain", body));
    assertThat(json(body)).isNotEqualTo(of(plain, "POST", "/", "application/json;charset=x", body));
  }

  @Test
  void emptyBlankAndNullAreThreeBodies() {
    assertThat(List.of(json(""), json(" "), json("null"))).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @CsvSource({
    "application/json; charset=utf-8, application/json, true",
    "'application/json;charset=\"UTF-8\"', Application/Json, true",
    "application/json; charset=utf-16, application/json, false",
    "application/vnd.x+json, application/json, false",
    "application/json; v=1, application/json; v=2, false",
    "application/json;  V=1, application/json;v=1, true",
  })
  void mediaTypesCountInTheirNormalForm(String one, String other, boolean equal) {
    String body = "{\"a\":1}";

    assertThat(of(plain, "POST", "/", one, body).equals(of(plain, "POST", "/", other, body)))
        .isEqualTo(equal);
  }

  @Test
  void aCodedBodyCountsAsItsBytes() {
    Headers coded = Headers.of("Content-Type", JSON, "Content-Encoding", "gzip");
    Headers identity = Headers.of("Content-Type", JSON, "Content-Encoding", "identity");
    byte[] one = "{\"a\":1}".getBytes(UTF_8);
    byte[] other = "{\"a\": 1}".getBytes(UTF_8);

    assertThat(plain.fingerprint(head("POST", "/", coded), one).current())
        .isNotEqualTo(plain.fingerprint(head("POST", "/", coded), other).current());
    assertThat(plain.fingerprint(head("POST", "/", identity), one).current())
        .isEqualTo(json("{\"a\": 1}"));
  }

  @Test
  void everyPartOfTheRequestCounts() {
    Fingerprinter listing = listing("X-A", "X-B");
    Map<String, Fingerprint> all = new LinkedHashMap<>();
    all.put("base", request(listing, "POST", "/a?b"));
    all.put("method", request(listing, "PUT", "/a?b"));
    all.put("case of method", request(listing, "post", "/a?b"));
    all.put("no query", request(listing, "POST", "/a"));
    all.put("empty query", request(listing, "POST", "/a?"));
    all.put("path takes from query", request(listing, "POST", "/ab?"));
    all.put("query takes from path", request(listing, "POST", "/?ab"));
    all.put("two marks", request(listing, "POST", "/a??b"));
    all.put("escaped mark", request(listing, "POST", "/a%3Fb"));
    all.put("method takes from path", request(listing, "POST/", "a?b"));
    all.put("A empty", request(listing, "POST", "/a?b", "X-A", ""));
    all.put("B empty", request(listing, "POST", "/a?b", "X-B", ""));
    all.put("A", request(listing, "POST", "/a?b", "X-A", "12"));
    all.put("B", request(listing, "POST", "/a?b", "X-B", "12"));
    all.put("A and B", request(listing, "POST", "/a?b", "X-A", "1", "X-B", "2"));
    all.put("A twice", request(listing, "POST", "/a?b", "X-A", "1", "X-A", "2"));
    all.put("A twice, turned", request(listing, "POST", "/a?b", "X-A", "2", "X-A", "1"));
    all.put("A list", request(listing, "POST", "/a?b", "X-A", "1, 2"));
    all.put("type", request(listing, "POST", "/a?b", "Content-Type", "text/plain"));
    all.put("no type", request(listing, "POST", "/a?b", "Content-Type", ""));
    all.put("coding", request(listing, "POST", "/a?b", "Content-Encoding", "br"));
    all.put(
        "two codings",
        request(listing, "POST", "/a?b", "Content-Encoding", "br", "Content-Encoding", "br"));
    all.put("type for coding", request(listing, "POST", "/a?b", "Content-Type", "br"));

    assertThat(new ArrayList<>(all.values())).doesNotHaveDuplicates();
  }

  @Test
  void charactersBeyondLatinAreNotFolded() {
    List<Fingerprint> all = new ArrayList<>();
    for (String path :
        List.of("/", "/?", "/\u0100", "/\u0000", "/\u0001\u0000", "/\ud800", "/\udfff")) {
      all.add(of(plain, "POST", path, JSON, ""));
    }

    assertThat(all).doesNotHaveDuplicates();
  }

  @Test
  void noBytesOfAFieldCanPassForTheFrame() {
    Fingerprinter listing = listing("X-A");
    String frame = "\u0000\u0000\u0000\u0000";
    List<Fingerprint> all = new ArrayList<>();
    all.add(request(listing, "POST", "/a?b" + frame + "c"));
    all.add(request(listing, "POST", "/a" + frame + "b?c"));
    all.add(request(listing, "POST", "/a?c", "X-A", "1", "X-A", frame + "2"));
    all.add(request(listing, "POST", "/a?c", "X-A", "1" + frame, "X-A", "2"));

    assertThat(all).doesNotHaveDuplicates();
  }

  @Test
  void headersThatAreNotListedDoNotCount() {
    assertThat(request(listing("X-A"), "POST", "/", "X-B", "1", "User-Agent", "x"))
        .isEqualTo(request(listing("X-A"), "POST", "/"));
  }

  @Test
  void listedHeadersAreFoundInAnyCaseAndListedInAnyOrder() {
    assertThat(request(listing("x-b", "X-A"), "POST", "/", "X-a", "1", "x-B", "2"))
        .isEqualTo(request(listing("X-A", "X-B", "x-a"), "POST", "/", "x-b", "2", "x-A", "1"));
  }

  @Test
  void ignoredMembersDoNotCountInJsonOnly() {
    Fingerprinter ignoring =
        RequestFingerprinter.create(FingerprintRule.of(List.of(), List.of("/sent_at")));
    String one = "{\"sent_at\":1,\"a\":2}";
    String other = "{\"a\":2,\"sent_at\":3}";

    assertThat(of(ignoring, "POST", "/", JSON, one))
        .isEqualTo(of(ignoring, "POST", "/", JSON, other));
    assertThat(of(ignoring, "POST", "/", JSON, one)).isEqualTo(json("{\"a\":2}"));
    assertThat(of(ignoring, "POST", "/", "text/plain", one))
        .isNotEqualTo(of(ignoring, "POST", "/", "text/plain", other));
  }

  @Test
  void aSecretMakesAnotherFingerprint() {
    Fingerprinter keyed = keyed("0123456789abcdef");
    Fingerprinter otherwiseKeyed = keyed("0123456789abcdeF");
    Fingerprint one = of(keyed, "POST", "/", JSON, "{\"a\":1}");

    assertThat(one).isEqualTo(of(keyed, "POST", "/", JSON, "{\"a\":1.0}"));
    assertThat(one).isNotEqualTo(of(otherwiseKeyed, "POST", "/", JSON, "{\"a\":1}"));
    assertThat(one).isNotEqualTo(json("{\"a\":1}"));
  }

  @Test
  void aRawBodyCountsAsItsBytesWhateverItsMediaType() {
    String secret = "0123456789abcdef";
    Fingerprinter raw =
        RequestFingerprinter.create(
            new FingerprintRule(List.of(), List.of(), true, secret.getBytes(UTF_8)));
    Fingerprint one = of(raw, "POST", "/", JSON, "{\"a\":1}");

    assertThat(one).isEqualTo(of(raw, "POST", "/", JSON, "{\"a\":1}"));
    assertThat(one).isNotEqualTo(of(raw, "POST", "/", JSON, "{\"a\":1.0}"));
    assertThat(one).isNotEqualTo(of(raw, "POST", "/", JSON, "{\"a\": 1}"));
    // Nor is it ever taken for the canonical form of the same bytes.
    assertThat(one).isNotEqualTo(of(keyed(secret), "POST", "/", JSON, "{\"a\":1}"));
  }

  @Test
  void rulesOutOfRangeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new FingerprintRule(List.of(), List.of("/a"), true, new byte[16]))
        .withMessageContaining("raw");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> keyed("fifteen bytes ."))
        .withMessageContaining("at least 16");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> listing("a b"))
        .withMessageContaining("\"a b\"");
    assertThat(new FingerprintRule(List.of(), List.of(), false, new byte[16]))
        .asString()
        .doesNotContain("[B");
  }

  /** Records outlive releases: whoever changes this number changes the version as well. */
  @Test
  void versionTwoIsFixed() {
    Fingerprint fingerprint =
        request(listing("X-A"), "POST", "/orders?x=1", "Content-Type", JSON, "X-A", "1");

    assertThat(HexFormat.of().formatHex(fingerprint.hash()))
        .isEqualTo("f86e1a80f9f9ec3101617411210c55c1afdfe8807ca0af5be33d873903e66d62");
    assertThat(Long.toHexString(fingerprint.marks())).isEqualTo("2b52803e7fc96516");
  }

  @Test
  void theLocaleOfTheMachineHasNoInfluence() {
    Locale before = Locale.getDefault();
    Fingerprint expected = of(listing("X-I"), "POST", "/", "APPLICATION/JSON;I=1", "{\"I\":\"i\"}");
    try {
      Locale.setDefault(new Locale("tr", "TR"));

      assertThat(of(listing("X-I"), "POST", "/", "APPLICATION/JSON;I=1", "{\"I\":\"i\"}"))
          .isEqualTo(expected);
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void threadsDoNotDisturbEachOther() throws Exception {
    Fingerprinter keyed = keyed("0123456789abcdef");
    List<Fingerprint> expected =
        List.of(of(keyed, "POST", "/", JSON, body(0)), of(keyed, "POST", "/", JSON, body(1)));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<Fingerprint>> found = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        String body = body(i & 1);
        found.add(threads.submit(() -> of(keyed, "POST", "/", JSON, body)));
      }

      for (int i = 0; i < found.size(); i++) {
        assertThat(found.get(i).get()).isEqualTo(expected.get(i & 1));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void streamedBodyCountsTheSameHoweverItIsCut() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    byte[] body = new byte[200_000];
    random.nextBytes(body);
    for (Fingerprinter fingerprinter : List.of(plain, keyed("a secret of 16 b"))) {
      Fingerprint whole = streamed(fingerprinter, "/", body, body.length);
      for (int most : new int[] {1 << 10, 70_000, 150_000}) {
        assertThat(streamed(fingerprinter, "/", body, 1 + random.nextInt(most)))
            .as("seed " + seed)
            .isEqualTo(whole);
      }
      byte[] other = body.clone();
      other[random.nextInt(other.length)] ^= 1;
      assertThat(streamed(fingerprinter, "/", other, 5_000)).as("seed " + seed).isNotEqualTo(whole);
      assertThat(streamed(fingerprinter, "/x", body, 5_000)).isNotEqualTo(whole);
      assertThat(streamed(fingerprinter, "/", Arrays.copyOf(body, 199_999), 5_000))
          .isNotEqualTo(whole);
    }
    assertThat(streamed(plain, "/", body, 100_000))
        .isNotEqualTo(streamed(keyed("a secret of 16 b"), "/", body, 100_000));
  }

  @Test
  void streamedBodyHasTheFingerprintThatTheRawBodyHasAsAWhole() {
    byte[] secret = "a secret of 16 b".getBytes(UTF_8);
    for (FingerprintRule rule :
        List.of(
            new FingerprintRule(List.of("X-A"), List.of(), true, null),
            new FingerprintRule(List.of(), List.of(), true, secret))) {
      Fingerprinter raw = RequestFingerprinter.create(rule);
      for (String body : List.of("", "x", "{\"b\":1,\"a\":2}", "y".repeat(100_000))) {
        assertThat(streamed(raw, "/p", body.getBytes(UTF_8), 7))
            .isEqualTo(of(raw, "POST", "/p", JSON, body));
      }
    }
  }

  /** Two uploads on one thread take turns. */
  @Test
  void streamedFingerprintsDoNotMix() {
    RequestHead head = head("POST", "/", Headers.of("Content-Type", JSON));
    Fingerprinter.Running one = plain.begin(head);
    Fingerprinter.Running two = plain.begin(head);
    one.add(new ArrayChunk("a".getBytes(UTF_8), 0, 1));
    two.add(new ArrayChunk("b".getBytes(UTF_8), 0, 1));
    json("{}");
    one.add(new ArrayChunk("a".getBytes(UTF_8), 0, 1));
    assertThat(one.end().current()).isEqualTo(streamed(plain, "/", "aa".getBytes(UTF_8), 1));
    assertThat(two.end().current()).isEqualTo(streamed(plain, "/", "b".getBytes(UTF_8), 1));
  }

  private static Fingerprint streamed(
      Fingerprinter fingerprinter, String path, byte[] body, int piece) {
    Fingerprinter.Running running =
        fingerprinter.begin(head("POST", path, Headers.of("Content-Type", JSON)));
    for (int at = 0; at < body.length; at += piece) {
      running.add(new ArrayChunk(body, at, Math.min(body.length - at, piece)));
    }
    return running.end().current();
  }

  private static String body(int number) {
    return "{\"z\":[" + "{\"b\":1,\"a\":\"\\u0041\"},".repeat(20) + number + "],\"a\":null}";
  }

  private Fingerprint json(String body) {
    return of(plain, "POST", "/", JSON, body);
  }

  private static Fingerprint of(
      Fingerprinter fingerprinter, String method, String path, String type, String body) {
    return fingerprinter
        .fingerprint(head(method, path, Headers.of("Content-Type", type)), body.getBytes(UTF_8))
        .current();
  }

  private static Fingerprint request(
      Fingerprinter fingerprinter, String method, String target, String... headers) {
    return fingerprinter
        .fingerprint(head(method, target, Headers.of(headers)), "{\"b\":1,\"a\":2}".getBytes(UTF_8))
        .current();
  }

  private static RequestHead head(String method, String target, Headers headers) {
    return RequestHead.of(method, target, headers);
  }

  private static Fingerprinter listing(String... headers) {
    return RequestFingerprinter.create(FingerprintRule.of(List.of(headers), List.of()));
  }

  private static Fingerprinter keyed(String secret) {
    return RequestFingerprinter.create(
        new FingerprintRule(List.of(), List.of(), false, secret.getBytes(UTF_8)));
  }
}
