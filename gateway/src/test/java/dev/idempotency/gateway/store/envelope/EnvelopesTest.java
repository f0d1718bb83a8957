package dev.idempotency.gateway.store.envelope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.store.Fixtures;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is put into an envelope comes out unchanged, or not at all. */
class EnvelopesTest {

  private static final int MOST = 1 << 20;
  private static final Reservation OWNER = Fixtures.reservation();

  private final Envelopes encrypting = new Envelopes(Keys.options(64, "k1"), MOST);
  private final Envelopes compressing = new Envelopes(Keys.options(64), MOST);

  private static StoredResponse json(String body) {
    return new StoredResponse(
        201,
        Headers.of("Content-Type", "application/json", "Set-Cookie", "a=b", "x", ""),
        body.getBytes(StandardCharsets.UTF_8),
        Headers.of("Checksum", "1"));
  }

  private static Binding binding(int status) {
    return Binding.of(OWNER, status);
  }

  private static StoredResponse with(StoredResponse sealed, byte[] envelope) {
    return new StoredResponse(sealed.status(), sealed.headers(), envelope, sealed.trailers());
  }

  static Stream<StoredResponse> responses() {
    return Stream.of(json(""), json("short"), json("long ".repeat(1_000)));
  }

  @ParameterizedTest
  @MethodSource("responses")
  void sealedResponseIsTheSameWhenOpened(StoredResponse response) throws UnreadableException {
    StoredResponse sealed = encrypting.seal(binding(201), response, false);
    assertThat(sealed.isSealed()).isTrue();
    assertThat(sealed.status()).isEqualTo(201);
    assertThat(encrypting.open(binding(201), sealed)).isEqualTo(response);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4_095, 4_096, 4_097, 8_191, 8_192, 8_193, 100_001})
  void pieceOfAnyLengthIsTheSameWhenOpened(int length) throws UnreadableException {
    byte[] piece = new byte[length];
    new Random(length).nextBytes(piece);
    PieceBinding binding = new PieceBinding(OWNER.id(), OWNER.token(), 7);
    byte[] sealed = encrypting.seal(binding, piece);
    assertThat(encrypting.open(binding, sealed)).isEqualTo(piece);
    PieceBinding other = new PieceBinding(OWNER.id(), OWNER.token(), 8);
    assertThatThrownBy(() -> encrypting.open(other, sealed))
        .isInstanceOf(UnreadableException.class);
  }

  @Test
  void sameResponseIsNeverSealedToTheSameBytes() {
    byte[] one = encrypting.seal(binding(201), json("same"), false).body();
    byte[] other = encrypting.seal(binding(201), json("same"), false).body();
    int head = 6 + 1 + 2;
    assertThat(Arrays.copyOf(one, head)).isEqualTo(Arrays.copyOf(other, head));
    for (int at = head; at + 12 <= one.length; at += 12) {
      assertThat(Arrays.copyOfRange(one, at, at + 12))
          .isNotEqualTo(Arrays.copyOfRange(other, at, at + 12));
    }
  }

  @ParameterizedTest
  @MethodSource("responses")
  void envelopeWithAnyBitFlippedIsRefused(StoredResponse response) {
    StoredResponse sealed = encrypting.seal(binding(201), response, false);
    for (int bit = 0; bit < sealed.body().length * 8; bit++) {
      byte[] changed = sealed.body().clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      assertThatThrownBy(() -> encrypting.open(binding(201), with(sealed, changed)))
          .as("bit %s", bit)
          .isInstanceOf(UnreadableException.class);
    }
  }

  @ParameterizedTest
  @MethodSource("responses")
  void envelopeOfAnyOtherLengthIsRefused(StoredResponse response) {
    for (Envelopes envelopes : new Envelopes[] {encrypting, compressing}) {
      StoredResponse sealed = envelopes.seal(binding(201), response, false);
      if (sealed.isSealed()) {
        for (int length = 0; length <= sealed.body().length + 20; length++) {
          byte[] cut = Arrays.copyOf(sealed.body(), length);
          if (length != sealed.body().length) {
            assertThatThrownBy(() -> envelopes.open(binding(201), with(sealed, cut)))
                .as("%s bytes", length)
                .isInstanceOf(UnreadableException.class);
          }
        }
      }
    }
  }

  @Test
  void damagedEnvelopeWithoutAKeyIsOpenedOrRefusedAndNothingElse() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    StoredResponse sealed = compressing.seal(binding(201), json("words ".repeat(50)), false);
    for (int i = 0; i < 20_000; i++) {
      byte[] changed = sealed.body().clone();
      for (int j = random.nextInt(4); j >= 0; j--) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
      }
      try {
        StoredResponse opened = compressing.open(binding(201), with(sealed, changed));
        assertThat(opened.body().length).as("seed %s", seed).isLessThanOrEqualTo(MOST);
      } catch (UnreadableException e) {
        assertThat(e).hasMessageStartingWith("it");
      }
    }
  }

  static Stream<Arguments> otherRecords() {
    Reservation next = OWNER.following(1);
    return Stream.of(
        Arguments.of("operation", Binding.of(Fixtures.reservation(), 201)),
        Arguments.of("attempt", Binding.of(next, 201)),
        Arguments.of("fingerprint", Binding.of(OWNER.with(Fixtures.fingerprint(2)), 201)),
        Arguments.of("status", binding(200)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("otherRecords")
  void envelopeInTheRecordOfAnotherIsRefused(String what, Binding other) {
    StoredResponse sealed = encrypting.seal(binding(201), json("mine"), false);
    assertThatThrownBy(() -> encrypting.open(other, sealed))
        .isInstanceOf(UnreadableException.class)
        .hasMessage("it was changed, or written for another operation, key \"k1\"");
  }

  @Test
  void keyOfTheSameNameAndAnotherSecretOpensNothing() {
    StoredResponse sealed = encrypting.seal(binding(201), json("mine"), false);
    EnvelopeOptions.Key other = new EnvelopeOptions.Key("k1", new byte[32]);
    Envelopes others = new Envelopes(new EnvelopeOptions(java.util.List.of(other), 0), MOST);
    assertThatThrownBy(() -> others.open(binding(201), sealed))
        .isInstanceOf(UnreadableException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, true",
    "APPLICATION/JSON; charset=utf-8, true",
    "application/problem+json, true",
    "image/svg+xml, true",
    "text/html, true",
    "text/event-stream, true",
    "image/png, false",
    "application/octet-stream, false",
    "application/zip, false"
  })
  void textIsCompressedAndNothingElse(String type, boolean compressed) {
    byte[] body = "again and ".repeat(100).getBytes(StandardCharsets.US_ASCII);
    Headers headers = Headers.of("Content-Type", type);
    StoredResponse response = new StoredResponse(200, headers, body, new Headers());
    assertThat(compressing.take(response)).isEqualTo(compressed);
    StoredResponse sealed = compressing.seal(binding(200), response, false);
    assertThat(sealed.body().length < body.length).isEqualTo(compressed);
  }

  @Test
  void codedBodyIsNotCompressedAgain() {
    StoredResponse coded = json("again and ".repeat(100));
    coded.headers().add("Content-Encoding", "gzip");
    assertThat(compressing.seal(binding(201), coded, false)).isSameAs(coded);
  }

  @Test
  void bodyThatCompressionMakesNoShorterStaysAsItIs() {
    byte[] noise = new byte[10_000];
    new Random(3).nextBytes(noise);
    Headers text = Headers.of("Content-Type", "text/plain");
    StoredResponse response = new StoredResponse(200, text, noise, new Headers());
    assertThat(compressing.seal(binding(200), response, false)).isSameAs(response);
  }

  @Test
  void shortBodyIsNotCompressed() {
    StoredResponse response = json("a".repeat(63));
    assertThat(compressing.seal(binding(201), response, false)).isSameAs(response);
  }

  @Test
  void hurriedResponseIsEncryptedAndNotCompressed() throws UnreadableException {
    StoredResponse response = json("a".repeat(10_000));
    StoredResponse sealed = encrypting.seal(binding(201), response, true);
    assertThat(sealed.body().length).isGreaterThan(10_000);
    assertThat(encrypting.open(binding(201), sealed)).isEqualTo(response);
    assertThat(compressing.seal(binding(201), response, true)).isSameAs(response);
  }

  @ParameterizedTest
  @ValueSource(ints = {MOST + 1, Integer.MAX_VALUE, -1, 2 << 18, 9_999, 10_001})
  void bombIsNotInflated(int claimed) {
    StoredResponse sealed = compressing.seal(binding(201), json("a".repeat(10_000)), false);
    byte[] bomb = sealed.body().clone();
    ByteBuffer.wrap(bomb).putInt(2, claimed);
    assertThatThrownBy(() -> compressing.open(binding(201), with(sealed, bomb)))
        .isInstanceOf(UnreadableException.class);
  }

  @Test
  void lengthThatNoCompressionReachesTakesNoMemory() {
    Envelopes generous = new Envelopes(Keys.options(64), Integer.MAX_VALUE);
    StoredResponse sealed = generous.seal(binding(201), json("a".repeat(10_000)), false);
    byte[] bomb = sealed.body().clone();
    ByteBuffer.wrap(bomb).putInt(2, Integer.MAX_VALUE);
    assertThatThrownBy(() -> generous.open(binding(201), with(sealed, bomb)))
        .isInstanceOf(UnreadableException.class)
        .hasMessage("its length is wrong");
  }

  @Test
  void badKeysAreRefusedByName() {
    assertThatThrownBy(() -> new EnvelopeOptions.Key("k 1", new byte[32]))
        .hasMessage("id \"k 1\" (expected: 1 to 32 letters, digits, \"-\" and \"_\")");
    assertThatThrownBy(() -> new EnvelopeOptions.Key("k1", new byte[16]))
        .hasMessage("key k1 of 16 bytes (expected: 32)");
    assertThatThrownBy(() -> Keys.encrypting("k1", "k2", "k1"))
        .hasMessageContaining("an id of its own");
  }
}
