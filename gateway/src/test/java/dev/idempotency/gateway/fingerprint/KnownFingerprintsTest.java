package dev.idempotency.gateway.fingerprint;

import static dev.idempotency.gateway.fingerprint.Requests.JSON;
import static dev.idempotency.gateway.fingerprint.Requests.bytes;
import static dev.idempotency.gateway.fingerprint.Requests.post;
import static dev.idempotency.gateway.fingerprint.Requests.streamed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which recorded fingerprints are taken for a request's, and what is said of the others. */
class KnownFingerprintsTest {

  private static final byte[] OLD = bytes("the secret of yesterday");
  private static final byte[] NEW = bytes("the secret of today");
  private static final byte[] FOREIGN = bytes("the secret of others");
  private static final String BODY = "{\"amount\":100}";
  private static final RequestHead HEAD = post("/orders?x=1", "Content-Type", JSON);
  private static final FingerprintRule RULE = FingerprintRule.DEFAULT;
  private static final FingerprintRule RAW = new FingerprintRule(List.of(), List.of(), true, null);

  @Test
  void methodThatAFieldNamesCountsByItself() {
    for (String name : List.of("X-HTTP-Method-Override", "x-http-method", "X-Method-Override")) {
      RequestHead put = post("/orders?x=1", "Content-Type", JSON, name, "PUT");
      RequestHead patch = post("/orders?x=1", "Content-Type", JSON, name, "PATCH");
      assertThat(Requests.of(RULE, put, BODY)).isNotEqualTo(Requests.of(RULE, HEAD, BODY));
      assertThat(Requests.of(RULE, put, BODY)).isNotEqualTo(Requests.of(RULE, patch, BODY));
      assertThat(Requests.of(RULE, put, BODY)).isEqualTo(Requests.of(RULE, put, BODY));
      assertThat(streamed(RAW, put, BODY, true).current())
          .isNotEqualTo(streamed(RAW, HEAD, BODY, true).current());
    }
  }

  @Test
  void firstSecretMakesAndAllRecognise() {
    FingerprintRule rotated = RULE.keyed(List.of(NEW, OLD));
    Fingerprints made = Requests.all(rotated, HEAD, bytes(BODY));

    assertThat(made.current()).isEqualTo(Requests.of(RULE.keyed(List.of(NEW)), HEAD, BODY));
    for (int version : new int[] {1, 2}) {
      for (List<byte[]> secrets : List.of(List.of(NEW), List.of(OLD), List.<byte[]>of())) {
        FingerprintRule earlier = RULE.keyed(secrets).by(version);
        assertThat(made.include(Requests.of(earlier, HEAD, BODY))).isTrue();
        assertThat(made.include(Requests.of(earlier, HEAD, "{\"amount\":101}"))).isFalse();
      }
      assertThat(made.include(Requests.of(RULE.keyed(List.of(FOREIGN)).by(version), HEAD, BODY)))
          .isFalse();
    }
    assertThat(Requests.all(RULE, HEAD, bytes(BODY)).include(made.current())).isFalse();
  }

  @Test
  void unknownVersionAndOpenAreNotRecognised() {
    Fingerprints made = Requests.all(RULE, HEAD, bytes(BODY));

    assertThat(made.include(new Fingerprint(3, made.current().hash()))).isFalse();
    assertThat(made.include(Fingerprint.OPEN)).isFalse();
    assertThat(made.differing(new Fingerprint(3, made.current().hash(), 1))).isEmpty();
  }

  @Test
  void streamedBodyIsRecognisedByAllThatMayHaveRecordedIt() {
    List<FingerprintRule> writers = new ArrayList<>();
    for (int version : new int[] {1, 2}) {
      writers.add(RAW.by(version));
      writers.add(RAW.by(version).keyed(List.of(OLD)));
      writers.add(RAW.by(version).keyed(List.of(NEW, OLD)));
    }
    for (FingerprintRule reader :
        List.of(RAW.keyed(List.of(NEW, OLD)), RAW.keyed(List.of(NEW, OLD)).by(1))) {
      Fingerprints made = streamed(reader, HEAD, BODY, false);
      Fingerprints other = streamed(reader, HEAD, BODY + ' ', false);
      assertThat(made.current()).isEqualTo(Requests.of(reader, HEAD, BODY));
      for (FingerprintRule writer : writers) {
        Fingerprint recorded = streamed(writer, HEAD, BODY, true).current();
        assertThat(recorded).isEqualTo(Requests.of(writer, HEAD, BODY));
        assertThat(made.include(recorded)).isTrue();
        assertThat(other.include(recorded)).isFalse();
      }
      assertThat(made.include(Fingerprint.OPEN)).isFalse();
    }
  }

  @Test
  void partsThatDifferAreNamed() {
    FingerprintRule listing = FingerprintRule.of(List.of("X-A"), List.of());
    for (List<byte[]> secrets : List.of(List.<byte[]>of(), List.of(OLD))) {
      Fingerprint recorded = Requests.of(listing.keyed(secrets), HEAD, BODY);
      FingerprintRule rule = listing.keyed(secrets.isEmpty() ? secrets : List.of(NEW, OLD));

      assertThat(differing(rule, HEAD, "{\"amount\":101}", recorded)).containsExactly(Part.BODY);
      assertThat(differing(rule, post("/orders?x=2", "Content-Type", JSON), BODY, recorded))
          .containsExactly(Part.QUERY);
      assertThat(differing(rule, post("/orders", "Content-Type", JSON), BODY, recorded))
          .containsExactly(Part.QUERY);
      assertThat(differing(rule, post("/other?x=1", "Content-Type", JSON), BODY, recorded))
          .containsExactly(Part.TARGET);
      assertThat(
              differing(
                  rule, post("/orders?x=1", "Content-Type", JSON, "X-A", "1"), "{}", recorded))
          .containsExactlyInAnyOrder(Part.HEADERS, Part.BODY);
    }
  }

  @Test
  void nothingIsSaidWhereAnotherSecretOrVersionMadeTheRecord() {
    Fingerprint foreign = Requests.of(RULE.keyed(List.of(FOREIGN)), HEAD, BODY);
    Fingerprint one = Requests.of(RULE.by(1), HEAD, BODY);
    FingerprintRule rule = RULE.keyed(List.of(NEW, OLD));

    assertThat(differing(rule, HEAD, "{}", foreign)).isEmpty();
    assertThat(differing(rule, HEAD, "{}", one)).isEmpty();
    assertThat(streamed(RAW, HEAD, BODY, false).differing(Requests.of(RAW, HEAD, "x")))
        .containsExactly(Part.BODY);
  }

  /** A mark must not let who reads the store try contents one part at a time. */
  @Test
  void marksDependOnTheSecret() {
    long plain = Requests.of(RULE, HEAD, BODY).marks();
    long old = Requests.of(RULE.keyed(List.of(OLD)), HEAD, BODY).marks();

    for (int shift = 0; shift < 64; shift += 16) {
      assertThat(plain >>> shift & 0xFFFF).isNotEqualTo(old >>> shift & 0xFFFF);
    }
  }

  private static java.util.Set<Part> differing(
      FingerprintRule rule, RequestHead head, String body, Fingerprint recorded) {
    Fingerprints made = Requests.all(rule, head, bytes(body));
    assertThat(made.include(recorded)).isFalse();
    return made.differing(recorded);
  }
}
