package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What of a response is stored, where a route says more than the deny list does. */
class StoredCopiesTest {

  /** Takes every "secret" out, and refuses to look at "<". */
  private static final Redactor REDACTOR =
      new Redactor() {
        @Override
        public byte[] redact(Headers headers, byte[] body) {
          String text = new String(body, StandardCharsets.ISO_8859_1);
          String without = text.replace("secret", "-");
          return text.startsWith("<")
              ? null
              : without.equals(text) ? body : without.getBytes(StandardCharsets.ISO_8859_1);
        }

        @Override
        public String described() {
          return "secrets";
        }
      };

  private static final CopyRule REDACTING = new CopyRule(Set.of(), Set.of(), REDACTOR, false);

  private static StoredResponse stored(CopyRule rule, String body, String... fields) {
    return ResponseFields.stored(
        new ResponseHead(200, Headers.of(fields)),
        body.getBytes(StandardCharsets.ISO_8859_1),
        Headers.of("Repr-Digest", "sha-256=:1:", "X-T", "1"),
        rule);
  }

  @Test
  void droppedFieldIsNotStoredInAnySpellingNorAsATrailer() {
    CopyRule rule = new CopyRule(Set.of(), Set.of("x-t", "location"), null, false);
    StoredResponse copy = stored(rule, "b", "LOCATION", "/1", "X-T", "1", "A", "b");
    assertThat(copy.headers()).isEqualTo(Headers.of("A", "b"));
    assertThat(copy.trailers()).isEqualTo(Headers.of("Repr-Digest", "sha-256=:1:"));
  }

  @Test
  void fieldThatIsNamedBothWaysIsNotStored() {
    CopyRule rule = new CopyRule(Set.of("set-cookie"), Set.of("set-cookie"), null, false);
    assertThat(stored(rule, "b", "Set-Cookie", "a=b").headers()).isEqualTo(new Headers());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ETag",
        "Digest",
        "Content-Digest",
        "repr-digest",
        "Content-MD5",
        "Signature",
        "Signature-Input"
      })
  void redactedCopyHasNoFieldThatVouchesForTheWhole(String name) {
    StoredResponse copy = stored(REDACTING, "a secret", name, "v", "Last-Modified", "then");
    assertThat(copy.body()).asString().isEqualTo("a -");
    assertThat(copy.headers())
        .isEqualTo(Headers.of("Last-Modified", "then", "Idempotency-Redacted", "true"));
    assertThat(copy.trailers()).isEqualTo(Headers.of("X-T", "1"));
  }

  @Test
  void copyThatNothingWasTakenOutOfIsWhole() {
    StoredResponse copy = stored(REDACTING, "plain", "ETag", "v");
    assertThat(copy.headers()).isEqualTo(Headers.of("ETag", "v"));
    assertThat(copy.trailers().size()).isEqualTo(2);
  }

  @Test
  void redactedResponseIsGivenWholeToTheFirstCallerOnly() {
    Stage stage = Stage.with().copy(REDACTING).open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    answer(connection.receiver(), 201, "a secret", "ETag", "v");
    stage.store.done();

    assertThat(call.client().text()).isEqualTo("a secret");
    assertThat(call.client().headers().contains("Idempotency-Redacted")).isFalse();
    assertThat(stage.store.completed())
        .singleElement()
        .satisfies(copy -> assertThat(copy.body()).asString().isEqualTo("a -"));

    StoredResponse copy = stage.store.completed().get(0);
    Stage.Call retry = stage.whole("k", "{}");
    stage.store.existing(1, new Completed(copy));
    assertThat(retry.client().text()).isEqualTo("a -");
    assertThat(retry.client().headers().get("Idempotency-Redacted")).isEqualTo("true");
    assertThat(retry.client().headers().get("Idempotent-Replayed")).isEqualTo("true");
  }

  @Test
  void responseThatCannotBeRedactedIsNotStoredAtAll() {
    Stage stage = Stage.with().copy(REDACTING).open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    answer(connection.receiver(), 201, "<secret>");
    stage.store.done();

    assertThat(call.client().status()).isEqualTo(201);
    assertThat(call.client().text()).isEqualTo("<secret>");
    assertThat(stage.store.commands()).containsExactly("reserve 1", "NotKept 1");
    assertThat(stage.store.completed()).isEmpty();
    assertThat(stage.heard.results()).containsExactly(Result.NOT_KEPT);
  }

  @Test
  void lateResponseIsRedactedToo() {
    Stage stage = Stage.with().copy(REDACTING).open();
    stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().overdue();
    stage.store.done();
    answer(connection.receiver(), 201, "a secret");

    assertThat(stage.store.completed())
        .singleElement()
        .satisfies(copy -> assertThat(copy.body()).asString().isEqualTo("a -"));
  }

  @Test
  void upstreamCannotSayThatItsResponseIsRedacted() {
    Stage stage = Stage.open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    answer(connection.receiver(), 201, "b", "Idempotency-Redacted", "true");
    stage.store.done();

    assertThat(call.client().headers().contains("Idempotency-Redacted")).isFalse();
    assertThat(stage.store.completed().get(0).headers().isEmpty()).isTrue();
  }

  @Test
  void envelopeThatNobodyOpenedIsNotShown() {
    Stage stage = Stage.open();
    Stage.Call retry = stage.whole("k", "{}");
    StoredResponse sealed =
        new StoredResponse(
            201, Headers.of(StoredResponse.SEALED, "1"), new byte[] {'x'}, new Headers());
    stage.store.existing(1, new Completed(sealed));

    assertThat(retry.client().status()).isEqualTo(409);
    assertThat(retry.client().problem()).contains("response-not-kept");
    assertThat(retry.client().headers().contains(StoredResponse.SEALED)).isFalse();
    assertThat(stage.heard.results()).containsExactly(Result.GONE);
  }
}
