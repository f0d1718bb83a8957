package dev.idempotency.gateway.fingerprint;

import static dev.idempotency.gateway.fingerprint.Requests.bytes;
import static dev.idempotency.gateway.fingerprint.Requests.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Records of version 1 are in stores: these numbers were written by the gateway that made them. */
class VersionOneTest {

  private static final String TYPE = "Content-Type";
  private static final String JSON = Requests.JSON;
  private static final String UTF8 = "application/json; charset=UTF-8";
  private static final byte[] SECRET = bytes("0123456789abcdef");
  private static final FingerprintRule PLAIN = FingerprintRule.DEFAULT;
  private static final FingerprintRule KEYED = PLAIN.keyed(List.of(SECRET));
  private static final FingerprintRule RAW = new FingerprintRule(List.of(), List.of(), true, null);
  private static final FingerprintRule RAW_KEYED = RAW.keyed(List.of(SECRET));
  private static final FingerprintRule LISTED =
      new FingerprintRule(List.of("X-B", "x-a"), List.of("/sent_at"), false, SECRET);

  static List<Arguments> recorded() {
    String json = "{\"b\":1.0,\"a\":[1e1,\"\u00c3\u00a9\"]}";
    String twice = "{\"a\":1,\"a\":2}";
    return List.of(
        row(
            PLAIN,
            post("/orders?x=1", TYPE, UTF8),
            json,
            "6b0a72953728e7eb04e20bcc088b8818594d4e057bb89b582743d65f8c642c43"),
        row(
            KEYED,
            post("/orders?x=1", TYPE, UTF8),
            json,
            "87b5a8b38269bf7e1a5f0faf1c7468744017b483d7d431fd75258e4226d90cc6"),
        row(
            RAW,
            post("/orders", TYPE, JSON),
            "{\"b\":1.0}",
            "164a992a71450a7dfe20c3a31486f6b6af7f43239c740f5fecd9afe067ce6072"),
        row(
            RAW_KEYED,
            post("/orders", TYPE, JSON),
            "{\"b\":1.0}",
            "4c824b7e936e17b9a63673ba4a62be5b63de0a9432460fd4fe3dfcc2b35cfed2"),
        row(
            LISTED,
            RequestHead.of(
                "PATCH", "/orders?", Headers.of(TYPE, JSON, "X-A", "1", "x-b", "2", "X-B", "3")),
            "{\"sent_at\":1,\"b\":2}",
            "3e8f42ba08ca46d316271167a82f34bf4be5a06cb6901d86295faf461193f035"),
        row(
            PLAIN,
            post("/o", TYPE, JSON),
            twice,
            "189ec8e564477b0134be92124f27c0f2f648600b32af7554cc32cbc4b8af530b"),
        row(
            PLAIN,
            post("/o", TYPE, Requests.FORM),
            "b=1&a=%41",
            "1006464be221ec739a32c51aff7bd91104d08d3c0d5b3bfbc0f83f873ff64579"),
        row(
            PLAIN,
            post("/o", TYPE, "multipart/form-data; boundary=\"x\""),
            "--x\r\n\r\n1\r\n--x--\r\n",
            "42ac58c1bf571d411c2221bc1eea904bfffdccff576b276eb8711c17af7a9055"),
        row(
            PLAIN,
            post("/o", TYPE, JSON, "Content-Encoding", "gzip"),
            "\u001f\u008b",
            "64eb2abd84ee626210376fab74b4fc00899410895b2d251d35380f54ca6539e4"),
        row(
            PLAIN,
            post("/o", "Content-Encoding", "gzip", "Content-Encoding", "br"),
            "x",
            "8c9e8716fcc319f082bb88bf38f85c9c0d9e84d0c7d141fa1af8b08ae50e2743"),
        row(
            PLAIN,
            post("/o", TYPE, "text/plain", "Content-Encoding", "Identity"),
            "x",
            "0c9e1894ef7145ab258b7534b2b0491b88dad970c6cc35011d2ea87c7e40c0f2"),
        row(
            PLAIN,
            RequestHead.of("PUT", "/\u0100", new Headers()),
            "",
            "e4cf20c33d0f5110d1efc18bc6aa8b18cf7f2ddec6eba33829b8880faaa6f06a"),
        row(
            PLAIN,
            RequestHead.of("PUT", "/o", Headers.of(TYPE, "text/plain", TYPE, "a b")),
            "\u0000\u00ff",
            "483f3bd6ce005766ba07495e597d4d4a82e9d7faad84676547b87282fe9e6a0a"));
  }

  private static Arguments row(FingerprintRule rule, RequestHead head, String body, String hash) {
    return Arguments.of(rule, head, body, hash);
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void whatItWroteIsWrittenAndRecognised(
      FingerprintRule rule, RequestHead head, String body, String hash) {
    Fingerprint recorded = new Fingerprint(1, HexFormat.of().parseHex(hash));

    assertThat(Requests.of(rule.by(1), head, body)).isEqualTo(recorded);
    for (int version : new int[] {1, 2}) {
      Fingerprints made = Requests.all(rule.by(version), head, bytes(body));
      assertThat(made.include(recorded)).isTrue();
      assertThat(made.differing(recorded)).isEmpty();
      assertThat(Requests.all(rule.by(version), head, bytes(body + ' ' + body)).include(recorded))
          .isFalse();
    }
    assertThat(
            Requests.all(rule.by(1), head, bytes(body))
                .include(Requests.of(rule.by(2), head, body)))
        .isTrue();
  }
}
