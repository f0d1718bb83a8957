package dev.idempotency.gateway.fingerprint;

import static dev.idempotency.gateway.fingerprint.Requests.bytes;
import static dev.idempotency.gateway.fingerprint.Requests.typed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.Fingerprint;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MultipartPartsTest {

  private static final String NOTE = "Content-Disposition: form-data; name=\"note\"\r\n\r\nhello";
  private static final String FILE =
      "Content-Disposition: form-data; name=\"f\"; filename=\"r.pdf\"\r\n"
          + "Content-Type: application/pdf\r\n\r\n%PDF\u0000\u00ff\n--\r\n";

  @Test
  void boundaryAndWhatIsAroundTheDelimitersDoNotCount() {
    Fingerprint one = of("one", body("one", NOTE, FILE));

    assertThat(of("two", body("two", NOTE, FILE))).isEqualTo(one);
    assertThat(of("\"a b\"", body("a b", NOTE, FILE))).isEqualTo(one);
    assertThat(of("----x", body("----x", NOTE, FILE))).isEqualTo(one);
    assertThat(of("one", "preamble\r\n" + body("one", NOTE, FILE))).isEqualTo(one);
    assertThat(of("one", body("one", NOTE, FILE) + "epilogue")).isEqualTo(one);
    assertThat(of("one", body("one", NOTE, FILE).replaceFirst("\r\n$", ""))).isEqualTo(one);
  }

  @Test
  void everyByteOfAPartAndTheirOrderCount() {
    List<Fingerprint> all = new ArrayList<>();
    for (String[] parts :
        new String[][] {
          {},
          {NOTE},
          {NOTE, FILE},
          {FILE, NOTE},
          {NOTE, NOTE},
          {NOTE, FILE, NOTE},
          {NOTE.replace("hello", "hellO"), FILE},
          {NOTE.replace("note", "Note"), FILE},
          {NOTE, FILE.replace("r.pdf", "s.pdf")},
          {NOTE, FILE.replace("application/pdf", "text/plain")},
          {NOTE, FILE.replace("Content-Type", "X-More: 1\r\nContent-Type")},
          {NOTE, FILE + "\r\n"},
          {NOTE + "\r\n", FILE},
          {"", NOTE + FILE},
        }) {
      all.add(of("two", body("two", parts)));
    }
    all.add(typed("multipart/form-data; charset=utf-16; boundary=two", body("two", NOTE)));

    assertThat(all).doesNotHaveDuplicates();
  }

  @Test
  void contentWithAnotherRequestsBoundaryIsNotCutThere() {
    String inner = body("inner", NOTE, FILE);
    String outer = body("outer", NOTE + "\r\n" + inner);

    assertThat(of("outer", outer)).isNotEqualTo(of("inner", outer));
    assertThat(of("outer", outer)).isNotEqualTo(of("inner", inner));
    assertThat(of("outer", outer)).isEqualTo(of("third", body("third", NOTE + "\r\n" + inner)));
  }

  /** Each is like the body of two parts but for one liberty that readers take differently. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--B\r\nA\r\n--B\r\nZ\r\n",
        "--B\r\nA\r\n--B\r\nZ\r\n--B",
        "--B\r\nA\r\n--B\r\nZ\r\n--B-",
        "--B\r\nA\r\n--B\r\nZ\r\n--B--x",
        "--B\r\nA\r\n--B\r\nZ\r\n--B--\n",
        "--B \r\nA\r\n--B\r\nZ\r\n--B--\r\n",
        "--B\r\nA\r\n--B\t\r\nZ\r\n--B--\r\n",
        "--B\nA\n--B\nZ\n--B--\n",
        "--B\r\nA\n--B\r\nZ\r\n--B--\r\n",
        "--B\r\nA\r\n--BX\r\nZ\r\n--B--\r\n",
        "--B\r\nA--B\r\n--B\r\nZ\r\n--B--\r\n",
        "--B\r\n--B\r\nA\r\n--B\r\nZ\r\n--B--\r\n",
        "x--B\r\nA\r\n--B\r\nZ\r\n--B--\r\n",
        "\n--B\r\nA\r\n--B\r\nZ\r\n--B--\r\n",
        "--B\r\nA\r\n--B\r\nZ\r\n--B--\r\n--B--\r\n",
        "--B\r\nA\r\n--B\r\nZ\r\n--B--\r\nepilogue --B",
        "--C\r\nA\r\n--C\r\nZ\r\n--C--\r\n",
        "",
      })
  void liberalBodiesCountAsTheyCameWithTheirBoundary(String odd) {
    Fingerprint one = of("B", odd);
    Fingerprint other = of("D", odd.replace("--B", "--D"));

    assertThat(one).isNotEqualTo(other).isEqualTo(of("B", odd));
    assertThat(one).isNotEqualTo(of("B", body("B", "A", "Z")));
  }

  @Test
  void moreThanAThousandPartsAreNotRead() {
    String[] parts = new String[MultipartParts.MOST_PARTS];
    java.util.Arrays.fill(parts, "x");
    String[] more = new String[MultipartParts.MOST_PARTS + 1];
    java.util.Arrays.fill(more, "x");

    assertThat(of("a", body("a", parts))).isEqualTo(of("b", body("b", parts)));
    assertThat(of("a", body("a", more))).isNotEqualTo(of("b", body("b", more)));
  }

  /** Another reader cuts at whole delimiter lines; where both read, they find the same. */
  @Test
  void randomBodiesAreTheSameOnlyWhereAnotherReaderFindsTheSameParts() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int equal = 0;
    for (int i = 0; i < 20_000; i++) {
      List<String> parts = parts(random);
      List<String> others = random.nextInt(3) == 0 ? parts(random) : parts;
      String one = broken(body("B", parts.toArray(String[]::new)), random);
      String other = broken(body("-C", others.toArray(String[]::new)), random);
      List<String> first = read(one, "B");
      boolean same = first != null && first.equals(read(other, "-C"));
      boolean found = of("B", one).equals(of("-C", other));
      equal += found ? 1 : 0;
      assertThat(found && !same).as("seed %d: %s and %s", seed, one, other).isFalse();
    }
    assertThat(equal).isGreaterThan(2_000);
  }

  private static List<String> parts(Random random) {
    List<String> parts = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      StringBuilder part = new StringBuilder();
      for (int j = random.nextInt(4); j > 0; j--) {
        part.append(List.of("x", "\r\n", "\n", "-", "--", "B", "-C", "\r").get(random.nextInt(8)));
      }
      parts.add(part.toString());
    }
    return parts;
  }

  private static String broken(String body, Random random) {
    if (random.nextInt(8) != 0) {
      return body;
    }
    int at = random.nextInt(body.length());
    return body.substring(0, at)
        + List.of("", "\n", "-", "B").get(random.nextInt(4))
        + body.substring(at + 1);
  }

  /** The parts as RFC 2046 cuts them; null where no end is found. */
  private static List<String> read(String body, String boundary) {
    String rest = "\r\n" + body;
    String delimiter = "\r\n--" + boundary;
    List<String> parts = new ArrayList<>();
    int at = rest.indexOf(delimiter);
    while (at >= 0) {
      String after = rest.substring(at + delimiter.length());
      if (after.startsWith("--")) {
        return parts;
      }
      if (!after.startsWith("\r\n")) {
        return null;
      }
      rest = after.substring(2);
      at = rest.indexOf(delimiter);
      if (at >= 0) {
        parts.add(rest.substring(0, at));
      }
    }
    return null;
  }

  /** A boundary that nearly matches everywhere is looked for in one pass. */
  @Test
  void boundaryThatNearlyMatchesEverywhereIsFound() {
    String boundary = "-".repeat(60) + "x";
    String part = "-".repeat(200_000);

    assertThat(of(boundary, body(boundary, part))).isEqualTo(of("b", body("b", part)));
  }

  private static String body(String boundary, String... parts) {
    StringBuilder body = new StringBuilder();
    for (String part : parts) {
      body.append("--").append(boundary).append("\r\n").append(part).append("\r\n");
    }
    return body.append("--").append(boundary).append("--\r\n").toString();
  }

  private static Fingerprint of(String boundary, String body) {
    return typed("multipart/form-data; boundary=" + boundary, bytes(body));
  }
}
