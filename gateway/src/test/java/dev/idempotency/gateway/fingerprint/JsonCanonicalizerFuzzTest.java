package dev.idempotency.gateway.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The canonicalizer against an independent one, on random documents; a failure names the seed
 * ({@code -Dfuzz.seed}). How long each test goes on: {@code -Dfuzz.seconds}.
 */
class JsonCanonicalizerFuzzTest {

  private static final String MUTANTS = "{}[]:,\"\\ue0129+-.Etfn \t\u0000";

  /** Exponents that the oracle cannot hold. */
  private static final Pattern BEYOND_BIG_DECIMAL = Pattern.compile("[eE][+-]?[0-9]{9}");

  private final JsonCanonicalizer canonicalizer = new JsonCanonicalizer();

  @Test
  void otherSpellingsHaveTheFormOfTheOracle() {
    forSeeds(
        1_000,
        (seed, random) -> {
          RandomJson json = new RandomJson(random);
          Object value = json.value(5);
          byte[] one = json.spell(value);
          byte[] other = json.spell(value);

          Optional<String> expected = JsonOracle.canonical(one);

          assertThat(expected).as("seed %d: %s", seed, text(one)).isPresent();
          assertThat(canonical(one)).as("seed %d: %s", seed, text(one)).isEqualTo(expected);
          assertThat(canonical(other)).as("seed %d: %s", seed, text(other)).isEqualTo(expected);
          byte[] again = expected.orElseThrow().getBytes(StandardCharsets.UTF_8);
          assertThat(canonical(again)).as("seed %d, twice", seed).isEqualTo(expected);
        });
  }

  @Test
  void documentsWithoutIgnoredPartsHaveTheFormOfTheOracle() {
    forSeeds(
        2_000,
        (seed, random) -> {
          RandomJson json = new RandomJson(random);
          Object value = json.value(5);
          Set<String> ignored = new LinkedHashSet<>();
          for (int i = random.nextInt(4); i >= 0; i--) {
            json.pointer(value).ifPresent(ignored::add);
          }
          byte[] document = json.spell(value);

          Optional<String> form = canonical(document, PointerTree.of(List.copyOf(ignored)));

          assertThat(form)
              .as("seed %d: %s without %s", seed, text(document), ignored)
              .isPresent()
              .isEqualTo(JsonOracle.canonical(document, ignored));
        });
  }

  @Test
  void chosenPartsHaveTheFormOfTheOracle() {
    forSeeds(
        2_000,
        (seed, random) -> {
          RandomJson json = new RandomJson(random);
          Object value = json.value(5);
          Set<String> chosen = pointers(json, value, 1 + random.nextInt(3));
          Set<String> ignored = pointers(json, value, random.nextInt(3));
          // What is left out as a whole can't be chosen.
          ignored.removeIf(i -> chosen.stream().anyMatch(c -> (c + '/').startsWith(i + '/')));
          byte[] document = json.spell(value);

          Optional<String> form =
              canonical(document, PointerTree.choosing(List.copyOf(chosen), List.copyOf(ignored)));

          if (!chosen.isEmpty()) {
            assertThat(form)
                .as("seed %d: %s of %s without %s", seed, chosen, text(document), ignored)
                .isPresent()
                .isEqualTo(JsonOracle.chosen(document, chosen, ignored));
            assertThat(canonicalizer.isChosen()).as("seed %d", seed).isTrue();
          }
        });
  }

  private static Set<String> pointers(RandomJson json, Object value, int count) {
    Set<String> pointers = new LinkedHashSet<>();
    for (int i = 0; i < count; i++) {
      json.pointer(value).ifPresent(pointers::add);
    }
    return pointers;
  }

  @Test
  void mutatedBytesHaveTheFormOfTheOracleOrNone() {
    forSeeds(
        4_000,
        (seed, random) -> {
          RandomJson json = new RandomJson(random);
          byte[] document = mutate(json.spell(json.value(3)), random);
          if (BEYOND_BIG_DECIMAL.matcher(text(document)).find()) {
            return;
          }

          Optional<String> form = canonical(document);

          assertThat(form)
              .as("seed %d: %s", seed, text(document))
              .isEqualTo(JsonOracle.canonical(document));
        });
  }

  @Test
  void cutDocumentsHaveNoFormUnlessTheRestIsOne() {
    forSeeds(
        20,
        (seed, random) -> {
          RandomJson json = new RandomJson(random);
          byte[] document = json.spell(json.object(2));
          for (int length = 0; length < document.length; length++) {
            byte[] cut = Arrays.copyOf(document, length);
            assertThat(canonical(cut))
                .as("seed %d: %s", seed, text(cut))
                .isEqualTo(JsonOracle.canonical(cut));
          }
        });
  }

  private static byte[] mutate(byte[] document, Random random) {
    byte[] mutated = document;
    for (int i = random.nextInt(3); i >= 0; i--) {
      int at = random.nextInt(mutated.length + 1);
      int cut = random.nextInt(3) == 0 ? Math.min(random.nextInt(4), mutated.length - at) : 0;
      byte[] inserted = new byte[random.nextInt(3)];
      for (int j = 0; j < inserted.length; j++) {
        inserted[j] =
            (byte)
                (random.nextInt(3) == 0
                    ? random.nextInt(256)
                    : MUTANTS.charAt(random.nextInt(MUTANTS.length())));
      }
      byte[] next = new byte[mutated.length - cut + inserted.length];
      System.arraycopy(mutated, 0, next, 0, at);
      System.arraycopy(inserted, 0, next, at, inserted.length);
      System.arraycopy(mutated, at + cut, next, at + inserted.length, mutated.length - at - cut);
      mutated = next;
    }
    return mutated;
  }

  private Optional<String> canonical(byte[] json) {
    return canonical(json, null);
  }

  private Optional<String> canonical(byte[] json, PointerTree ignored) {
    return canonicalizer.canonicalize(json, ignored)
        ? Optional.of(
            new String(canonicalizer.bytes(), 0, canonicalizer.length(), StandardCharsets.UTF_8))
        : Optional.empty();
  }

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.ISO_8859_1);
  }

  private interface Trial {
    void run(long seed, Random random);
  }

  private static void forSeeds(int count, Trial trial) {
    long first = Long.getLong("fuzz.seed", System.nanoTime() >>> 16);
    long end = System.nanoTime() + 1_000_000_000L * Integer.getInteger("fuzz.seconds", 0);
    for (long seed = first; seed < first + count || System.nanoTime() < end; seed++) {
      try {
        trial.run(seed, Seeds.random(seed));
      } catch (RuntimeException e) {
        throw new AssertionError("with -Dfuzz.seed=" + seed, e);
      }
    }
  }
}
