package dev.idempotency.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.config.Format.Parsed;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FormatsTest {

  private static final Format<Duration> DURATION =
      Durations.between(Duration.ZERO, Duration.ofDays(3650), "10s");
  private static final Format<Long> SIZE = Sizes.between(1, Long.MAX_VALUE, "1MiB");

  @ParameterizedTest
  @CsvSource({"0s,0", "500ms,500", "5s,5000", "2m,120000", "24h,86400000", "7d,604800000"})
  void durationIsReadInItsUnit(String text, long millis) {
    assertThat(DURATION.parser().apply(text))
        .isEqualTo(new Parsed.Good<>(Duration.ofMillis(millis)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "5",
        "s",
        "-5s",
        "+5s",
        "5 s",
        "5S",
        "1.5s",
        "5sec",
        "1h30m",
        "٣s",
        "99999999999s"
      })
  void textThatIsNoDurationIsRefused(String text) {
    assertThat(DURATION.parser().apply(text)).isInstanceOf(Parsed.Bad.class);
  }

  @ParameterizedTest
  @CsvSource({
    "1B,1",
    "512B,512",
    "64KiB,65536",
    "1MiB,1048576",
    "2GiB,2147483648",
    "1KB,1000",
    "10MB,10000000",
    "1GB,1000000000",
    "1TB,1000000000000",
    "1TiB,1099511627776",
    "999999999TiB,9223372036854775807",
    "999999999GiB,1073741822926258176"
  })
  void sizeIsReadInItsUnit(String text, long bytes) {
    assertThat(SIZE.parser().apply(text)).isEqualTo(new Parsed.Good<>(bytes));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0B", "1", "1M", "1mib", "1 MiB", "-1B", "1.5MiB", "9999999999B"})
  void textThatIsNoSizeIsRefused(String text) {
    assertThat(SIZE.parser().apply(text)).isInstanceOf(Parsed.Bad.class);
  }

  @Test
  void printedDurationsAndSizesReadAsTheSame() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      long unit = new long[] {1, 1_000, 60_000, 3_600_000, 86_400_000}[random.nextInt(5)];
      Duration duration = Duration.ofMillis(unit * random.nextInt(3_000));
      assertThat(DURATION.parser().apply(Durations.print(duration)))
          .as("seed %d", seed)
          .isEqualTo(new Parsed.Good<>(duration));
      long size = (1L + random.nextInt(3_000)) << (10 * random.nextInt(5));
      assertThat(SIZE.parser().apply(Sizes.print(size)))
          .as("seed %d", seed)
          .isEqualTo(new Parsed.Good<>(size));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/**",
        "/orders",
        "/orders/",
        "/orders/**",
        "/orders/{id}",
        "/orders/*",
        "/a/*/b/{c}/**",
        "/v1/a:b@c",
        "/%7Ea/~b",
        "/a.b/...c"
      })
  void wellFormedPathIsAccepted(String path) {
    assertThat(PathSyntax.parse(path)).contains(path);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "orders",
        "*",
        "**",
        "//",
        "/a//b",
        "/**/a",
        "/***",
        "/a**",
        "/*a",
        "/{}",
        "/{1}",
        "/{a}b",
        "/a{b}",
        "/{a}/{a}",
        "/a b",
        "/a?b",
        "/a#b",
        "/%",
        "/%4",
        "/%zz",
        "/é",
        "/.",
        "/..",
        "/a/./b",
        "http://a/b",
        "/a\\b"
      })
  void malformedPathIsRefused(String path) {
    assertThat(PathSyntax.parse(path)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "0.0.0.0:8080,0.0.0.0,8080",
    "localhost:0,localhost,0",
    "[::1]:80,::1,80",
    "[fe80::1]:65535,fe80::1,65535",
    "my_app-1.svc:1,my_app-1.svc,1"
  })
  void hostAndPortIsReadAndPrintedTheSame(String text, String host, int port) {
    assertThat(HostAndPort.parse(text)).contains(new HostAndPort(host, port));
    assertThat(new HostAndPort(host, port)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", ":80", "a", "a:", "a:b", "a:65536", "a:-1", "::1:80", "[::1]", "[a]:80", "[80]:80",
        "a b:80", "a/b:80", "u@a:80"
      })
  void textThatIsNoHostAndPortIsRefused(String text) {
    assertThat(HostAndPort.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "redis://a,redis://a",
    "redis://u:p@a:1/2,redis://***@a:1/2",
    "redis://u:p@q@a,redis://***@a",
    "redis://a?password=p@q,redis://***@q",
    "redis://a?password=p,redis://a?***",
    "u:p@a,***@a"
  })
  void passwordOfAUrlIsMasked(String url, String masked) {
    assertThat(Secret.maskUrl(url)).isEqualTo(masked);
  }

  @ParameterizedTest
  @CsvSource({
    "retention-time,retention",
    "leese,lease",
    "idempotancy,idempotency",
    "outcome,outcomes"
  })
  void misspeltWordHasANearest(String word, String near) {
    assertThat(Nearest.to(word, List.of("name", "retention", "lease", "idempotency", "outcomes")))
        .contains(near);
  }

  @Test
  void otherWordHasNoNearest() {
    assertThat(Nearest.to("colour", List.of("format", "access"))).isEmpty();
  }
}
