package dev.idempotency.gateway.fingerprint;

import static dev.idempotency.gateway.fingerprint.Requests.FORM;
import static dev.idempotency.gateway.fingerprint.Requests.bytes;
import static dev.idempotency.gateway.fingerprint.Requests.typed;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FormPairsTest {

  private static final int SIZE = 1 << 20;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a=1&b=2 | b=2&a=1",
        "a=1&b=2&a=3 | b=2&a=1&a=3",
        "a=%41%2b | a=A%2B",
        "a=x+y | a=x%20y",
        "%61mount=1 | amount=1",
        "a=%e9 | a=%E9",
        "a=b%3Dc | a=b=c",
        "items%5B%5D=1&x=2 | x=2&items[]=1",
        "a=1&ab=2&abc=3 | abc=3&ab=2&a=1",
      })
  void formsThatAreEqualAsDataAreTheSame(String one, String other) {
    assertThat(typed(FORM, one)).isEqualTo(typed(FORM, other));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "amount=100 | amount=1000",
        "a=1&b=2 | a=2&b=1",
        "a=1&a=2 | a=2&a=1",
        "a=1 | a=1&a=1",
        "a | a=",
        "a=1 | A=1",
        "a=+ | a=%2B",
        "a=1%262=3 | a=1&2=3",
        "a%3D=1 | a==1",
        "a=1&b= | a=1&b=&c=",
        "a=1&bc=2 | a=1b&c=2",
        // what one reader or another takes for one name
        "a[]=1&a[x]=2 | a[x]=2&a[]=1",
        "a[][b]=1&a[][c]=2&a[][b]=3 | a[][b]=1&a[][b]=3&a[][c]=2",
        "a=1&a[x]=2 | a[x]=2&a=1",
        "a=1&A=2 | A=2&a=1",
        "a.b=1&a_b=2 | a_b=2&a.b=1",
        "a+b=1&a_b=2 | a_b=2&a+b=1",
        "%FF=1&%EF%BF%BD=2 | %EF%BF%BD=2&%FF=1",
        "a%C3%A9b=1&a%E9b=2 | a%E9b=2&a%C3%A9b=1",
        "%C3%89=1&%C3%A9=2 | %C3%A9=2&%C3%89=1",
        // what has no pairs counts as it came
        "a=1&&b=2 | b=2&&a=1",
        "a=1&b=2& | b=2&a=1&",
        "a=1;c=2&c=3 | c=3&a=1;c=2",
        "a=1;2 | a=1%3B2",
        "a=%4&b=1 | b=1&a=%4",
        "a=%zz | a=%ZZ",
        "a=% | a=%25",
        "a[x=1&a_x=2 | a_x=2&a[x=1",
        "a]=1&b=2 | b=2&a]=1",
        "+a=1&a=2 | a=2&+a=1",
        "[a]=1&b=2 | b=2&[a]=1",
        "a%00b=1&a=2 | a=2&a%00b=1",
      })
  void formsThatSomebodyMayReadDifferentlyDiffer(String one, String other) {
    assertThat(typed(FORM, one)).isNotEqualTo(typed(FORM, other));
    assertThat(typed(FORM, one)).isEqualTo(typed(FORM, one));
  }

  @Test
  void octetsThatOughtToBeEscapedCountAsTheyCame() {
    for (String odd : List.of("\u00e9", " ", "\n", "\t", "\u0000", "\u007f")) {
      assertThat(typed(FORM, "a=" + odd + "&b=1")).isNotEqualTo(typed(FORM, "b=1&a=" + odd));
    }
    assertThat(typed(FORM, "a=\u00e9")).isNotEqualTo(typed(FORM, "a=%E9"));
  }

  @Test
  void mediaTypeDecidesWhetherAFormIsRead() {
    String utf8 = FORM + ";charset=UTF-8";
    assertThat(typed(utf8, "a=1&b=2")).isEqualTo(typed(FORM, "b=2&a=1"));
    for (String type : List.of("text/plain", FORM + ";charset=iso-8859-1")) {
      assertThat(typed(type, "a=1&b=2")).isNotEqualTo(typed(type, "b=2&a=1"));
    }
    assertThat(typed(FORM, "")).isEqualTo(typed(FORM, "")).isNotEqualTo(typed("text/plain", ""));
  }

  /** Two forms are the same only where a plain reading finds the same values in the same order. */
  @Test
  void randomFormsAreTheSameExactlyWhenAnotherReaderFindsTheSame() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int equal = 0;
    for (int i = 0; i < 20_000; i++) {
      List<String> pairs = pairs(random);
      List<String> others = new ArrayList<>(random.nextInt(4) == 0 ? pairs(random) : pairs);
      Collections.shuffle(others, random);
      String one = String.join("&", pairs);
      String other = String.join("&", respelled(others, random));
      boolean same = read(one).equals(read(other));
      equal += same ? 1 : 0;
      assertThat(typed(FORM, one).equals(typed(FORM, other)))
          .as("seed %d: %s and %s", seed, one, other)
          .isEqualTo(same);
    }
    assertThat(equal).isBetween(2_000, 18_000);
  }

  private static List<String> pairs(Random random) {
    List<String> pairs = new ArrayList<>();
    for (int i = 1 + random.nextInt(5); i > 0; i--) {
      String name =
          List.of("a", "b", "B", "c[]", "c[x]", "d.e", "d_e", "f%20").get(random.nextInt(8));
      pairs.add(name + List.of("", "=", "=1", "=2", "=%2B", "=%C3%A9").get(random.nextInt(6)));
    }
    return pairs;
  }

  private static List<String> respelled(List<String> pairs, Random random) {
    return pairs.stream()
        .map(pair -> random.nextBoolean() ? pair.replace("1", "%31").replace("%20", "+") : pair)
        .map(pair -> random.nextBoolean() ? pair.replace("[", "%5b").replace("%C3", "%c3") : pair)
        .toList();
  }

  private static Map<String, List<String>> read(String form) {
    Map<String, List<String>> values = new TreeMap<>();
    for (String pair : form.split("&")) {
      String[] sides = pair.split("=", 2);
      String name = URLDecoder.decode(sides[0], StandardCharsets.UTF_8);
      String stem = name.replaceFirst("\\[.*", "").replaceAll("[. ]", "_").toLowerCase(Locale.ROOT);
      String value =
          sides.length == 1 ? "none" : '=' + URLDecoder.decode(sides[1], StandardCharsets.UTF_8);
      values.computeIfAbsent(stem, s -> new ArrayList<>()).add(name + '\n' + value);
    }
    return values;
  }

  @ParameterizedTest
  @ValueSource(strings = {"&", "a&", "a=%41&", "%41=&", "a[b]=1&"})
  void hostileFormsCostInProportion(String piece) {
    byte[] form = bytes(piece.repeat(SIZE / piece.length()));
    assertThat(allocated(form)).isLessThan(4L * SIZE);
  }

  @Test
  void tenThousandNamesWithALongCommonStartAreSortedInSortingTime() {
    StringBuilder text = new StringBuilder("z=");
    for (int i = FormPairs.MOST_PAIRS - 1; i > 0; i--) {
      text.append('&').append("x".repeat(100)).append(i);
    }
    byte[] form = bytes(text.toString());
    FormPairs pairs = new FormPairs();

    assertThat(pairs.read(form)).isTrue();
    assertThat(pairs.work()).isLessThan(15L * form.length);
    assertThat(allocated(form)).isLessThan(8L * SIZE);
    assertThat(pairs.read(bytes(text + "&one=more"))).isFalse();
  }

  private static long allocated(byte[] form) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    FormPairs pairs = new FormPairs();
    CanonicalText text = new CanonicalText();
    long before = threads.getCurrentThreadAllocatedBytes();
    if (pairs.read(form)) {
      pairs.write(text, null);
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}
