package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Documents in the resource files, octets there being percent-encoded where they are no visible
 * ASCII: what is JSON with its one form, what is none, and what readers of JSON disagree about.
 */
class JsonVectorsTest {

  private final JsonCanonicalizer canonicalizer = new JsonCanonicalizer();

  @ParameterizedTest
  @MethodSource("accepted")
  void aDocumentHasItsForm(String name, String document, String form) {
    byte[] json = octets(document);
    byte[] expected = octets(form);

    assertThat(canonical(json)).as(name).isEqualTo(expected);
    assertThat(canonical(expected)).as("%s, again", name).isEqualTo(expected);
    assertThat(JsonOracle.canonical(json)).as(name).hasValue(new String(expected, UTF_8));
  }

  @ParameterizedTest
  @MethodSource("refused")
  void whatIsNoUnambiguousJsonHasNone(String name, String document) {
    assertThat(canonicalizer.canonicalize(octets(document), null)).as(name).isFalse();
  }

  /** Records outlive releases: whoever changes this number changes the version as well. */
  @Test
  void theFormsOfManyDocumentsAreFixed() throws Exception {
    MessageDigest all = MessageDigest.getInstance("SHA-256");
    for (int seed = 0; seed < 2_000; seed++) {
      RandomJson json = new RandomJson(new Random(seed));
      all.update(canonical(json.spell(json.object(4))));
    }
    all.update(canonical(Orders.ofSize(200)));
    all.update(canonical(Orders.ofSize(10 << 10)));

    assertThat(HexFormat.of().formatHex(all.digest()))
        .isEqualTo("52e8b3caa3577ed9b0c54a43f6c40f3c2b2c4d5959ab0960bb26adfca9192192");
  }

  private byte[] canonical(byte[] json) {
    assertThat(canonicalizer.canonicalize(json, null)).isTrue();
    return Arrays.copyOf(canonicalizer.bytes(), canonicalizer.length());
  }

  static Stream<Object[]> accepted() {
    return lines("accepted.txt").map(line -> (Object[]) line.split(" +", 3));
  }

  static Stream<Object[]> refused() {
    return lines("refused.txt").map(line -> (Object[]) line.split(" +", 2));
  }

  private static Stream<String> lines(String file) {
    try (InputStream in = JsonVectorsTest.class.getResourceAsStream("/json/" + file)) {
      List<String> lines = new String(in.readAllBytes(), UTF_8).lines().toList();
      return lines.stream().filter(line -> !line.isBlank() && !line.startsWith("#"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] octets(String text) {
    ByteArrayOutputStream octets = new ByteArrayOutputStream();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      octets.write(c == '%' ? Integer.parseInt(text, i + 1, i + 3, 16) : c);
      i += c == '%' ? 2 : 0;
    }
    return octets.toByteArray();
  }
}
