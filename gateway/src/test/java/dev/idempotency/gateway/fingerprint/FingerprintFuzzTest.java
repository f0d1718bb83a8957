package dev.idempotency.gateway.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import dev.idempotency.gateway.testing.Seeds;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Fingerprints of random requests of all kinds against an independent reading of them. A failure
 * names the seed ({@code -Dfuzz.seed}); how long it goes on: {@code -Dfuzz.seconds}.
 */
class FingerprintFuzzTest {

  private static final int LEAST = 4_000;
  private static final int REMEMBERED = 200_000;
  private static final byte[] SECRET = Requests.bytes("a secret of these tests");

  private final Map<Fingerprint, String> meanings = new HashMap<>();
  private int equal;
  private int same;

  /**
   * Whatever two requests have the same fingerprint mean the same; the attempts of one client have
   * the same. A change of a byte that changes the meaning changes the fingerprint.
   */
  @Test
  void sameFingerprintsMeanTheSame() {
    long first = Long.getLong("fuzz.seed", System.nanoTime() >>> 16);
    System.out.println("seed " + first);
    long end = System.nanoTime() + 1_000_000_000L * Integer.getInteger("fuzz.seconds", 0);
    long seed = first;
    while (seed < first + LEAST || System.nanoTime() < end) {
      try {
        trial(seed, new RandomRequests(Seeds.random(seed)));
      } catch (RuntimeException e) {
        throw new AssertionError("with -Dfuzz.seed=" + seed, e);
      }
      seed++;
    }
    // Else the generator makes nothing worth comparing.
    assertThat(same).isGreaterThan((int) (seed - first) / 4);
    assertThat(equal).isGreaterThan((int) (seed - first) / 2);
  }

  private void trial(long seed, RandomRequests requests) {
    RandomRequests.Attempt one = requests.attempt();
    RandomRequests.Attempt retry = requests.retry();
    assertThat(print(one, seed))
        .as("seed %d: honest retry\n%s\n%s", seed, one, retry)
        .isEqualTo(print(retry, seed));
    equal++;
    for (int i = 0; i < 4; i++) {
      RandomRequests.Attempt other = requests.mutant(i % 2 == 0 ? one : retry);
      same += print(one, seed).equals(print(other, seed)) ? 1 : 0;
    }
  }

  private Fingerprint print(RandomRequests.Attempt attempt, long seed) {
    RequestHead head = RequestHead.of("POST", "/orders", Headers.of(attempt.headers()));
    FingerprintRule rule = FingerprintRule.DEFAULT;
    Optional<String> meaning = RequestOracle.meaning(head.headers(), attempt.body());
    Fingerprint made = Requests.all(rule, head, attempt.body()).current();
    if (meaning.isPresent()) {
      remember(made, meaning.get(), attempt, seed);
      remember(
          Requests.all(rule.by(1), head, attempt.body()).current(), meaning.get(), attempt, seed);
      FingerprintRule keyed = rule.keyed(List.of(SECRET));
      remember(Requests.all(keyed, head, attempt.body()).current(), meaning.get(), attempt, seed);
      assertThat(Requests.all(keyed, head, attempt.body()).include(made)).isTrue();
    }
    return made;
  }

  private void remember(
      Fingerprint made, String meaning, RandomRequests.Attempt attempt, long seed) {
    if (meanings.size() > REMEMBERED) {
      meanings.clear();
    }
    assertThat(meanings.computeIfAbsent(made, m -> meaning))
        .as("seed %d: another meaning with the same fingerprint\n%s", seed, attempt)
        .isEqualTo(meaning);
  }

  /** Marks never name a part that is the same. */
  @Test
  void partsThatAreTheSameAreNotSaidToDiffer() {
    long seed = Long.getLong("fuzz.seed", System.nanoTime() >>> 16);
    System.out.println("seed " + seed);
    RandomRequests requests = new RandomRequests(new Random(seed));
    for (int i = 0; i < 2_000; i++) {
      RandomRequests.Attempt one = requests.attempt();
      RandomRequests.Attempt other = requests.mutant(one);
      RequestHead head = RequestHead.of("POST", "/orders?a=1", Headers.of(one.headers()));
      RequestHead otherHead = RequestHead.of("POST", "/orders?a=1", Headers.of(other.headers()));
      Fingerprint recorded = Requests.all(FingerprintRule.DEFAULT, head, one.body()).current();

      assertThat(Requests.all(FingerprintRule.DEFAULT, otherHead, other.body()).differing(recorded))
          .as("seed %d: %s and %s", seed, one, other)
          .isSubsetOf(Set.of(Part.HEADERS, Part.BODY));
    }
  }
}
