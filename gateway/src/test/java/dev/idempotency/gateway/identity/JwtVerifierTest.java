package dev.idempotency.gateway.identity;

import static dev.idempotency.gateway.identity.Tokens.OTHER;
import static dev.idempotency.gateway.identity.Tokens.RSA;
import static dev.idempotency.gateway.identity.Tokens.base64;
import static dev.idempotency.gateway.identity.Tokens.claims;
import static dev.idempotency.gateway.identity.Tokens.header;
import static dev.idempotency.gateway.identity.Tokens.set;
import static dev.idempotency.gateway.identity.Tokens.signed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.Base64URL;
import dev.idempotency.gateway.exchange.TokenVerifier.Verdict;
import dev.idempotency.gateway.exchange.TokenVerifier.Verdict.Invalid;
import dev.idempotency.gateway.exchange.TokenVerifier.Verdict.Unavailable;
import dev.idempotency.gateway.exchange.TokenVerifier.Verdict.Valid;
import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which tokens count, and where the keys come from that say so. */
class JwtVerifierTest {

  private static final long NOW = 1_800_000_000_000L;
  private static final ECKey EC = Tokens.ec("ec-1");
  private static final RSAKey SEALED = Tokens.rsa("enc-1", 2048, KeyUse.ENCRYPTION);
  private static final RSAKey WEAK = Tokens.rsa("weak-1", 1024, KeyUse.SIGNATURE);

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong millis = new AtomicLong(NOW);
  private final ExecutorService loop =
      Executors.newSingleThreadExecutor(task -> new Thread(task, "loop"));
  private @Nullable JwtVerifier verifier;
  private @Nullable ScriptedUpstream issuer;

  @TempDir Path folder;

  @AfterEach
  void stop() {
    if (verifier != null) {
      verifier.close();
    }
    if (issuer != null) {
      issuer.close();
    }
    loop.shutdownNow();
  }

  private TokenOptions options(URI keys) {
    return options(keys, null);
  }

  private TokenOptions options(URI keys, @Nullable Path authority) {
    return new TokenOptions(
        keys,
        "https://idp.test",
        Set.of("api", "other"),
        Set.of("RS256", "ES256"),
        Duration.ofSeconds(30),
        Duration.ofMinutes(10),
        authority);
  }

  private void start(URI keys) {
    verifier = JwtVerifier.start(options(keys), nanos::get, millis::get);
  }

  private void startWith(String keySet) throws IOException {
    Path file = folder.resolve("keys.json");
    Files.writeString(file, keySet);
    start(file.toUri());
  }

  /** An issuer that answers with what stands in the reference. */
  private URI issuer(AtomicReference<String> keySet, AtomicInteger asked) {
    issuer =
        ScriptedUpstream.start(
            (request, wire) -> {
              asked.incrementAndGet();
              String text = keySet.get();
              if (text.isEmpty()) {
                wire.respond(500, "away");
              } else {
                wire.respond(200, text);
              }
            });
    return URI.create(issuer.url() + "/keys");
  }

  private Verdict verify(String token) {
    CompletableFuture<Verdict> verdict = new CompletableFuture<>();
    Objects.requireNonNull(verifier).on(loop).verify(token, verdict::complete);
    return verdict.orTimeout(20, TimeUnit.SECONDS).join();
  }

  private static String reason(Verdict verdict) {
    assertThat(verdict).isInstanceOf(Invalid.class);
    return ((Invalid) verdict).reason();
  }

  private static @Nullable String claim(Verdict verdict, String name) {
    assertThat(verdict).isInstanceOf(Valid.class);
    return ((Valid) verdict).claims().apply(name);
  }

  // ---- tokens

  @Test
  void rightTokenGivesItsClaims() throws IOException {
    startWith(set(RSA, EC));
    String token =
        signed(
            RSA,
            claims(
                NOW,
                ",\"n\":9007199254740993,\"b\":true,\"x\":1.5,\"long\":12345678901234567890,"
                    + "\"list\":[\"a\"],\"none\":null"));
    for (int i = 0; i < 2; i++) {
      Verdict verdict = verify(token);
      assertThat(claim(verdict, "sub")).isEqualTo("u1");
      assertThat(claim(verdict, "iss")).isEqualTo("https://idp.test");
      assertThat(claim(verdict, "n")).isEqualTo("9007199254740993");
      assertThat(claim(verdict, "b")).isEqualTo("true");
      for (String none : new String[] {"x", "long", "list", "none", "other"}) {
        assertThat(claim(verdict, none)).as(none).isNull();
      }
      assertThat(verdict.toString()).doesNotContain("u1");
    }
    JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("ec-1").build();
    assertThat(claim(verify(signed(header, EC, claims(NOW, ""))), "sub")).isEqualTo("u1");
  }

  @Test
  void tokenByEd25519Counts() throws Exception {
    KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    byte[] encoded = pair.getPublic().getEncoded();
    byte[] x = Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length);
    String set =
        "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"ed\",\"x\":\""
            + Base64URL.encode(x)
            + "\"}]}";
    Path file = folder.resolve("ed.json");
    Files.writeString(file, set);
    TokenOptions options =
        new TokenOptions(
            file.toUri(),
            null,
            Set.of(),
            Set.of("EdDSA"),
            Duration.ZERO,
            Duration.ofMinutes(10),
            null);
    verifier = JwtVerifier.start(options, nanos::get, millis::get);
    String input = base64("{\"alg\":\"EdDSA\",\"kid\":\"ed\"}") + '.' + base64(claims(NOW, ""));
    Signature signature = Signature.getInstance("Ed25519");
    signature.initSign(pair.getPrivate());
    signature.update(input.getBytes(StandardCharsets.US_ASCII));
    byte[] signed = signature.sign();
    assertThat(claim(verify(input + '.' + Base64URL.encode(signed)), "sub")).isEqualTo("u1");
    signed[0] ^= 1;
    assertThat(reason(verify(input + '.' + Base64URL.encode(signed)))).contains("signature");
    assertThat(reason(verify(input + '.' + base64("short")))).contains("signature");
  }

  @Test
  void tokenThatNamesNoKeyIsTriedWithThoseThatFit() throws IOException {
    startWith(set(OTHER, EC, RSA));
    assertThat(verify(signed(header(null).build(), RSA, claims(NOW, ""))))
        .isInstanceOf(Valid.class);
  }

  static Stream<Arguments> wrong() {
    String right = signed(RSA, claims(NOW, ""));
    String[] parts = right.split("\\.", -1);
    String signature = parts[2];
    String changed = base64(claims(NOW, "").replace("u1", "u2"));
    String none = base64("{\"alg\":\"none\"}");
    long now = NOW / 1000;
    String noExpiry = "{\"iss\":\"https://idp.test\",\"aud\":\"api\",\"sub\":\"u1\"}";
    return Stream.of(
        Arguments.of("empty", "", "not a signed token"),
        Arguments.of("garbage", "a.b.c", "not a signed token"),
        Arguments.of("two parts", parts[0] + '.' + parts[1], "not a signed token"),
        Arguments.of("none", none + '.' + parts[1] + '.', "not a signed token"),
        Arguments.of("none, signed", none + '.' + parts[1] + '.' + signature, "not a signed token"),
        Arguments.of("NoNe", base64("{\"alg\":\"NoNe\"}") + '.' + parts[1] + ".", ""),
        Arguments.of("HS256 with the public key", hs256(parts[1]), "algorithm"),
        Arguments.of("payload changed", parts[0] + '.' + changed + '.' + signature, "signature"),
        Arguments.of(
            "header changed",
            base64("{\"kid\":\"rsa-1\",\"alg\":\"RS256\",\"x\":1}")
                + '.'
                + parts[1]
                + '.'
                + signature,
            "signature"),
        Arguments.of("no signature", parts[0] + '.' + parts[1] + '.', ""),
        Arguments.of(
            "other key under this name",
            signed(header("rsa-1").build(), OTHER, claims(NOW, "")),
            "signature"),
        Arguments.of("unknown key", signed(OTHER, claims(NOW, "")), "not known"),
        Arguments.of("key for encryption", signed(SEALED, claims(NOW, "")), "not known"),
        Arguments.of("weak key", signed(WEAK, claims(NOW, "")), "not known"),
        Arguments.of(
            "RS512, not pinned",
            signed(
                new JWSHeader.Builder(JWSAlgorithm.RS512).keyID("rsa-1").build(),
                RSA,
                claims(NOW, "")),
            "algorithm"),
        Arguments.of(
            "ES256 by the name of an RSA key",
            signed(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("rsa-1").build(),
                EC,
                claims(NOW, "")),
            "not known"),
        Arguments.of(
            "critical extension",
            signed(
                header("rsa-1").customParam("x", 1).criticalParams(Set.of("x")).build(),
                RSA,
                claims(NOW, "")),
            "extension"),
        Arguments.of(
            "made for logging out",
            signed(
                header("rsa-1").type(new JOSEObjectType("logout+jwt")).build(),
                RSA,
                claims(NOW, "")),
            "type"),
        Arguments.of("expired", signed(RSA, claims(NOW - 331_000, "")), "expired"),
        Arguments.of("never expires", signed(RSA, noExpiry), "when it expires"),
        Arguments.of(
            "expiry is text",
            signed(RSA, noExpiry.replace("}", ",\"exp\":\"" + (now + 99) + "\"}")),
            "when it expires"),
        Arguments.of("too early", signed(RSA, claims(NOW, ",\"nbf\":" + (now + 31))), "yet"),
        Arguments.of("beginning is text", signed(RSA, claims(NOW, ",\"nbf\":\"1\"")), "yet"),
        Arguments.of(
            "other issuer",
            signed(RSA, claims(NOW, "").replace("idp.test", "evil.test")),
            "issuer"),
        Arguments.of(
            "no issuer", signed(RSA, claims(NOW, "").replace("\"iss\"", "\"i\"")), "issuer"),
        Arguments.of(
            "other audience",
            signed(RSA, claims(NOW, "").replace("\"api\"", "\"apis\"")),
            "somebody else"),
        Arguments.of(
            "no audience",
            signed(RSA, claims(NOW, "").replace("\"aud\"", "\"a\"")),
            "somebody else"),
        Arguments.of("no object", signed(RSA, "[1]"), "no JSON object"),
        Arguments.of(
            "too long",
            signed(RSA, claims(NOW, ",\"x\":\"" + "x".repeat(20_000) + '"')),
            "too long"));
  }

  /** The public key, which everybody knows, taken for a secret. */
  private static String hs256(String payload) {
    try {
      String input = base64("{\"kid\":\"rsa-1\",\"alg\":\"HS256\"}") + '.' + payload;
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(RSA.toRSAPublicKey().getEncoded(), "HmacSHA256"));
      byte[] signature = mac.doFinal(input.getBytes(StandardCharsets.US_ASCII));
      return input + '.' + Base64URL.encode(signature);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrong")
  void wrongTokenDoesNotCount(String name, String token, String reason) throws IOException {
    startWith(set(RSA, EC, SEALED, WEAK));
    for (int i = 0; i < 2; i++) {
      assertThat(reason(verify(token))).contains(reason).doesNotContain("u1");
    }
  }

  @Test
  void symmetricKeyInTheSetVerifiesNothing() throws IOException {
    String secret = base64("x".repeat(32));
    startWith(
        set(RSA)
            .replace(
                "{\"keys\":[",
                "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"s\",\"k\":\""
                    + secret
                    + "\"},{\"kty\":\"new\"},7,".replace(",7,", ",")));
    assertThat(verify(signed(RSA, claims(NOW, "")))).isInstanceOf(Valid.class);
  }

  @Test
  void clocksMayDifferByTheLeeway() throws IOException {
    startWith(set(RSA));
    assertThat(verify(signed(RSA, claims(NOW - 329_000, "")))).isInstanceOf(Valid.class);
    String early = claims(NOW, ",\"nbf\":" + (NOW / 1000 + 30));
    assertThat(verify(signed(RSA, early))).isInstanceOf(Valid.class);
    String several = claims(NOW, "").replace("\"api\"", "[\"a\",\"other\"]");
    assertThat(verify(signed(RSA, several))).isInstanceOf(Valid.class);
  }

  @Test
  void tokenThatWasRightExpires() throws IOException {
    startWith(set(RSA));
    String token = signed(RSA, claims(NOW, ""));
    assertThat(verify(token)).isInstanceOf(Valid.class);
    millis.addAndGet(329_999);
    assertThat(verify(token)).isInstanceOf(Valid.class);
    millis.addAndGet(1);
    assertThat(reason(verify(token))).contains("expired");
  }

  // ---- keys

  @Test
  void keysThatRotateAreFetchedWhenATokenNamesOne() {
    AtomicReference<String> keys = new AtomicReference<>(set(RSA));
    AtomicInteger asked = new AtomicInteger();
    start(issuer(keys, asked));
    String old = signed(RSA, claims(NOW, ""));
    String fresh = signed(OTHER, claims(NOW, ""));
    assertThat(verify(old)).isInstanceOf(Valid.class);
    keys.set(set(OTHER));
    assertThat(reason(verify(fresh))).contains("not known");
    assertThat(asked).hasValue(1);
    nanos.addAndGet(TokenKeys.BETWEEN_FETCHES.toNanos());
    assertThat(verify(fresh)).isInstanceOf(Valid.class);
    assertThat(asked).hasValue(2);
    // It was remembered as right, by a key that was withdrawn.
    assertThat(reason(verify(old))).contains("not known");
    for (int i = 0; i < 20; i++) {
      verify(signed(header("guess-" + i).build(), RSA, claims(NOW, "")));
    }
    assertThat(asked).hasValue(2);
  }

  @Test
  void answerComesOnTheLoopThatAsked() throws Exception {
    AtomicReference<String> keys = new AtomicReference<>(set(RSA));
    start(issuer(keys, new AtomicInteger()));
    CompletableFuture<String> thread = new CompletableFuture<>();
    Objects.requireNonNull(verifier)
        .on(loop)
        .verify(
            signed(OTHER, claims(NOW, "")),
            verdict -> thread.complete(Thread.currentThread().getName()));
    assertThat(thread.get(20, TimeUnit.SECONDS)).isEqualTo("loop");
  }

  @Test
  void lastKnownKeysGoOnCountingWhileTheIssuerIsAway() {
    AtomicReference<String> keys = new AtomicReference<>(set(RSA));
    AtomicInteger asked = new AtomicInteger();
    start(issuer(keys, asked));
    assertThat(verify(signed(RSA, claims(NOW, "")))).isInstanceOf(Valid.class);
    for (String trouble :
        new String[] {
          "", "garbage", "{\"keys\":[]}", "{\"keys\":[null]}", "{}", "[]", "x".repeat(2 << 20)
        }) {
      keys.set(trouble);
      nanos.addAndGet(TokenKeys.BETWEEN_FETCHES.toNanos());
      assertThat(reason(verify(signed(OTHER, claims(NOW, ""))))).contains("not known");
      assertThat(verify(signed(RSA, claims(NOW, ",\"t\":" + trouble.length()))))
          .isInstanceOf(Valid.class);
    }
    assertThat(asked).hasValue(8);
    assertThat(Objects.requireNonNull(verifier).keysAgeSeconds()).isEqualTo(70);
  }

  @Test
  void withoutKeysNobodyCanBeAskedUntilTheyAreThere() {
    AtomicReference<String> keys = new AtomicReference<>("");
    start(issuer(keys, new AtomicInteger()));
    String token = signed(RSA, claims(NOW, ""));
    assertThat(verify(token)).isInstanceOf(Unavailable.class);
    assertThat(Objects.requireNonNull(verifier).keysAgeSeconds()).isEqualTo(-1);
    keys.set(set(RSA));
    assertThat(verify(token)).isInstanceOf(Unavailable.class);
    nanos.addAndGet(TokenKeys.BETWEEN_FETCHES.toNanos());
    assertThat(verify(token)).isInstanceOf(Valid.class);
  }

  @Test
  void addressThatRedirectsOrRefusesHasNoKeys() {
    issuer =
        ScriptedUpstream.start(
            (request, wire) -> wire.respond(302, set(RSA), "Location: http://127.0.0.1:1/"));
    start(URI.create(issuer.url()));
    assertThat(verify(signed(RSA, claims(NOW, "")))).isInstanceOf(Unavailable.class);
  }

  @Test
  void keysThatComeByTlsComeOnlyFromWhomTheAuthorityVouchesFor() {
    Certificates own = Certificates.authority("Own");
    ScriptedUpstream started = ScriptedUpstream.start((r, wire) -> wire.respond(200, set(RSA)));
    issuer = started.tls(own.context(own.server()));
    Path authority = Certificates.write(folder.resolve("ca.pem"), own.bundle().getCertificatePEM());
    URI keys = URI.create(started.url() + "/keys");
    verifier = JwtVerifier.start(options(keys, authority), nanos::get, millis::get);
    assertThat(verify(signed(RSA, claims(NOW, "")))).isInstanceOf(Valid.class);
    verifier.close();
    // A certificate of its own authority, but for another name.
    started.tls(own.context(own.issue(it -> it.subject("CN=x").addSanDnsName("other.test"))));
    verifier = JwtVerifier.start(options(keys, authority), nanos::get, millis::get);
    assertThat(verify(signed(RSA, claims(NOW, "")))).isInstanceOf(Unavailable.class);
    verifier.close();
    started.tls(own.context(Certificates.authority("Others").server()));
    verifier = JwtVerifier.start(options(keys, authority), nanos::get, millis::get);
    assertThat(verify(signed(RSA, claims(NOW, "")))).isInstanceOf(Unavailable.class);
    assertThat(started.requests()).isEqualTo(1);
  }

  @Test
  void answerThatStallsInItsBodyIsGivenUp() {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    issuer =
        ScriptedUpstream.start(
            (request, wire) -> {
              wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"keys\":[");
              gate.pass();
            });
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    try {
      KeySetUrl url = KeySetUrl.of(URI.create(issuer.url()), null, Duration.ofMillis(200), timer);
      assertThat(url.fetch().orTimeout(20, TimeUnit.SECONDS))
          .failsWithin(Duration.ofSeconds(30))
          .withThrowableThat()
          .withMessageContaining("it did not answer in time");
    } finally {
      gate.open();
      timer.shutdownNow();
    }
  }

  @Test
  void fileWithoutAKeyOfUseIsSaidAtOnce() throws IOException {
    for (String text : new String[] {"", "{}", "{\"keys\":[]}", set(WEAK), set(SEALED)}) {
      Path file = folder.resolve("bad.json");
      Files.writeString(file, text);
      assertThatThrownBy(() -> start(file.toUri()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("bad.json")
          .hasMessageContaining("expected: a JSON Web Key Set");
    }
    assertThatThrownBy(() -> start(folder.resolve("missing.json").toUri()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("missing.json");
  }

  @Test
  void fileThatChangesIsReadAgain() throws IOException {
    startWith(set(RSA));
    Files.writeString(folder.resolve("keys.json"), set(OTHER));
    // The first reading in the background may have been before that.
    verify(signed(OTHER, claims(NOW, "")));
    nanos.addAndGet(TokenKeys.BETWEEN_FETCHES.toNanos());
    assertThat(verify(signed(OTHER, claims(NOW, "")))).isInstanceOf(Valid.class);
    assertThat(reason(verify(signed(RSA, claims(NOW, ""))))).contains("not known");
  }

  @Test
  void symmetricAlgorithmsAreRefused() {
    for (String name : new String[] {"HS256", "none", "RS1"}) {
      TokenOptions symmetric =
          new TokenOptions(
              URI.create("http://127.0.0.1:1/"),
              null,
              Set.of(),
              Set.of(name),
              Duration.ZERO,
              Duration.ofMinutes(10),
              null);
      assertThatThrownBy(() -> JwtVerifier.start(symmetric))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith(name + " (expected: one of ");
    }
  }
}
