package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What stands in a template is asked for, or nothing is. */
class ProbeUrlTest {

  private static final PathPattern TENANTS = PathPattern.of("/tenants/{tenant}/orders/**");

  private static @Nullable String of(String template, String key) {
    return ProbeUrl.of(template, PathPattern.of("/orders"), "/orders", key);
  }

  @ParameterizedTest
  @CsvSource({
    "k-1_.~A, k-1_.~A",
    "a b, a%20b",
    "a&b=c+d, a%26b%3Dc%2Bd",
    "a?b#c, a%3Fb%23c",
    "100%, 100%25",
    "'a;b', a%3Bb",
    "..., ...",
    ".k, .k",
  })
  void keyIsEncodedForASegment(String key, String encoded) {
    assertThat(of("/by-key/{key}", key)).isEqualTo("/by-key/" + encoded);
  }

  /** Each of them is another path for one or the other server, or its parent. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        ".",
        "..",
        "%2e",
        ".%2E",
        "%2e%2E",
        "%252e.",
        "..;a=1",
        ".;",
        "%2e%2e%3b",
        "a/b",
        "../a",
        "a\\b",
        "a%2Fb",
        "a%5cb",
        "a%252fb",
        "a%00b",
        "%c0%ae%c0%ae",
        "%0a",
        ""
      })
  void keyThatMayLeaveItsSegmentIsNotAskedAbout(String key) {
    assertThat(of("/by-key/{key}", key)).isNull();
    assertThat(of("/by-key/{key}/status?a=b", key)).isNull();
    assertThat(of("/by-key/{key};v=1", key)).isNull();
  }

  @Test
  void dotsThatTheTemplateMakesWholeAreNotAskedAboutEither() {
    assertThat(of("/by-key/.{key}", ".")).isNull();
    assertThat(of("/by-key/{key}.", ".")).isNull();
    assertThat(of("/by-key/{key}{key}", ".")).isNull();
    assertThat(of("/by-key/order-{key}", "..")).isEqualTo("/by-key/order-..");
  }

  @ParameterizedTest
  @CsvSource({
    ".., ..",
    "a/b, a%2Fb",
    "a&b=c, a%26b%3Dc",
    "a+b, a%2Bb",
    "a#b, a%23b",
    "%2e, %252e",
    "a?b, a%3Fb",
  })
  void keyIsEncodedForAQuery(String key, String encoded) {
    assertThat(of("/orders?key={key}&limit=1", key))
        .isEqualTo("/orders?key=" + encoded + "&limit=1");
    assertThat(of("/orders?{key}", key)).isEqualTo("/orders?" + encoded);
  }

  @ParameterizedTest
  @CsvSource({
    "acme, acme",
    "a&key=other, a%26key%3Dother",
    "a=b+c, a%3Db%2Bc",
    "a%26b, a%26b",
    "a%2Bb%20c, a%2Bb%20c",
    "a%2fb, a%2Fb",
    "J%C3%BCrgen, J%C3%BCrgen",
    "%61cme, acme",
    "a;b, a%3Bb",
    "'a,b', a%2Cb",
  })
  void segmentOfTheRequestIsOneValueInAQuery(String tenant, String encoded) {
    String target = ProbeUrl.of("/orders?t={tenant}&key={key}", TENANTS, path(tenant), "k");
    assertThat(target).isEqualTo("/orders?t=" + encoded + "&key=k");
  }

  @ParameterizedTest
  @CsvSource({"acme, acme", "a&b=c, a%26b%3Dc", "J%C3%BCrgen, J%C3%BCrgen", "a%3Fb, a%3Fb"})
  void segmentOfTheRequestIsOneSegment(String tenant, String encoded) {
    assertThat(ProbeUrl.of("/t/{tenant}/{key}", TENANTS, path(tenant), "k"))
        .isEqualTo("/t/" + encoded + "/k");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "..",
        "%2e%2e",
        "%2E.",
        "a%2Fb",
        "a%5Cb",
        "%252e%252e",
        "a%00b",
        "a%zz",
        "a%2",
        "%ff"
      })
  void segmentOfTheRequestThatMayLeaveItsPlaceIsNotAskedAbout(String tenant) {
    assertThat(ProbeUrl.of("/t/{tenant}/{key}", TENANTS, path(tenant), "k")).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a%zz", "a%2", "%ff", "a%00b", "a%0d%0aX: y"})
  void segmentThatIsNoTextIsNotAskedAboutInAQuery(String tenant) {
    assertThat(ProbeUrl.of("/o?t={tenant}&k={key}", TENANTS, path(tenant), "k")).isNull();
  }

  @Test
  void pathOfAnotherPatternIsNotReadByThisOne() {
    String template = "/t/{tenant}/{key}";
    assertThat(ProbeUrl.of(template, TENANTS, "/shops/acme/orders", "k")).isNull();
    assertThat(ProbeUrl.of(template, TENANTS, "/tenants//orders", "k")).isNull();
    assertThat(ProbeUrl.of(template, TENANTS, "/tenants/acme", "k")).isNull();
    PathPattern twice = PathPattern.of("/{tenant}/of/{tenant}");
    assertThat(ProbeUrl.of(template, twice, "/a/of/b", "k")).isNull();
  }

  @Test
  void noKeyMakesAnythingButAValueOfTheTemplatesPlace() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String marks = "./\\%2eEfF5cC;&=?#+: ak";
    for (int i = 0; i < 20_000; i++) {
      StringBuilder key = new StringBuilder();
      for (int length = 1 + random.nextInt(6); length > 0; length--) {
        key.append(marks.charAt(random.nextInt(marks.length())));
      }
      String path = of("/a/b/{key}?x=1", key.toString());
      if (path != null) {
        URI read = URI.create("http://h" + path);
        assertThat(read.normalize()).as("seed %d", seed).isEqualTo(read);
        assertThat(read.getPath()).as("seed %d", seed).isEqualTo("/a/b/" + key);
        assertThat(read.getPath().indexOf('/', 5)).as("seed %d", seed).isEqualTo(-1);
      }
      URI query = URI.create("http://h" + of("/a?k={key}", key.toString()));
      assertThat(query.getRawQuery()).as("seed %d", seed).doesNotContain("&").doesNotContain("+");
    }
  }

  private static String path(String tenant) {
    return "/tenants/" + tenant + "/orders/1";
  }
}
