package dev.idempotency.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathRuleTest {

  private static final long SEED = 20_261_129L;
  private static final PathRule LENIENT = new PathRule(true, true, true);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/a",
        "/a/",
        "/a/b-c._~d",
        "/a.b/c..d/....",
        "/...",
        "/.well-known/idempotency",
        "/a:b@c!$&'()*+,=d",
        "/a|b^c`{d}",
        "/%20",
        "/%23%3F%25",
        "/%C3%A9",
        "/%252F..%252Fa",
        "/a%3Bb",
        "/ADMIN/x"
      })
  void normalPathIsLeftAsItIs(String path) {
    assertThat(PathRule.STRICT.read(path)).isEqualTo(new PathRule.Reading.Path(path));
    assertThat(LENIENT.read(path)).isEqualTo(new PathRule.Reading.Path(path));
  }

  @ParameterizedTest
  @CsvSource({
    "/%61dmin/x,        /admin/x",
    "/%41%5a%30%2d%5F%7e, /AZ0-_~",
    "/a%2eb,            /a.b",
    "/a%2e%2Eb,         /a..b",
    "/%2e%2e%2e,        /...",
    "/%c3%a9,           /%C3%A9",
    "/%3a%40,           /%3A%40",
    "/%2561,            /%2561"
  })
  void otherSpellingOfTheSamePathBecomesTheOneThatIsMeant(String path, String normal) {
    assertThat(PathRule.STRICT.read(path)).isEqualTo(new PathRule.Reading.Path(normal));
    // Once only: what came out is not read again as something else.
    assertThat(PathRule.STRICT.read(normal)).isEqualTo(new PathRule.Reading.Path(normal));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/.",
        "/..",
        "/./a",
        "/../a",
        "/a/.",
        "/a/..",
        "/a/../b",
        "/a/%2e%2e/b",
        "/a/.%2E/b",
        "/a/%2e./b",
        "/a/%2e",
        "/a/..;/b",
        "/a/..;v=1/b",
        "/a/.;/b",
        "/a/%2e%2e;x/b",
        "/a/..%3B/b",
        "/a/..%3bx",
        "/a%2F..%2Fb",
        "/a/..%2Fb",
        "/a%5c..%5cb",
        "/a/..%5Cb",
        "/a%2f.",
        "/a%2f..;x"
      })
  void dotSegmentIsRefusedWhateverIsAllowed(String path) {
    assertThat(LENIENT.read(path)).isEqualTo(refused("has a dot segment (rule dot-segment)"));
    assertThat(PathRule.STRICT.read(path)).isInstanceOf(PathRule.Reading.Refused.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/a%00/x",
        "/a%0d%0ab",
        "/a%1F",
        "/a%7f",
        "/%",
        "/a%",
        "/a%2",
        "/a%zz",
        "/a%2g",
        "/a%%20",
        "/%u0061",
        "/a%+1",
        "/a%-1",
        "/\uff10%\uff12\uff10",
        "/%c0%ae%c0%ae/a",
        "/%C1%9C",
        "/%e0%80%af",
        "/%f0%80%80%af",
        "/a b",
        "/a\tb",
        "/a\"b",
        "/a<b",
        "/a>b",
        "/a#b",
        "/a\\b",
        "/\u00e9",
        "/a\u007f",
        "/a\u0000",
        "/\u2215",
        "",
        "a",
        "a/b",
        "*",
        "?",
        "http://a/b"
      })
  void pathThatIsNoneIsRefusedWhateverIsAllowed(String path) {
    assertThat(LENIENT.read(path)).isInstanceOf(PathRule.Reading.Refused.class);
    assertThat(PathRule.STRICT.read(path)).isInstanceOf(PathRule.Reading.Refused.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a%2Fb", "/a%5Cb", "/%2F", "/a%2f%2Fb"})
  void encodedSlashIsForThoseWhoAllowIt(String path) {
    PathRule rule = new PathRule(true, false, false);
    assertThat(PathRule.STRICT.read(path)).asString().contains("rule encoded-slash");
    assertThat(new PathRule(false, true, true).read(path)).asString().contains("encoded-slash");
    assertThat(rule.read(path)).isEqualTo(new PathRule.Reading.Path(path.replace("2f", "2F")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a;v=1", "/a;v=1/b", "/a;/b;c;d"})
  void semicolonIsForThoseWhoAllowIt(String path) {
    assertThat(PathRule.STRICT.read(path)).asString().contains("rule semicolon");
    assertThat(new PathRule(true, false, true).read(path)).asString().contains("rule semicolon");
    assertThat(new PathRule(false, true, false).read(path))
        .isEqualTo(new PathRule.Reading.Path(path));
  }

  @ParameterizedTest
  @ValueSource(strings = {"//", "//a", "/a//b", "/a//", "/a///b"})
  void emptySegmentIsForThoseWhoAllowIt(String path) {
    assertThat(PathRule.STRICT.read(path)).asString().contains("rule empty-segment");
    assertThat(new PathRule(true, true, false).read(path)).asString().contains("empty-segment");
    assertThat(new PathRule(false, false, true).read(path))
        .isEqualTo(new PathRule.Reading.Path(path));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/;/admin", "/;x/admin", "/a/;x"})
  void segmentOfAParameterAloneIsEmpty(String path) {
    assertThat(new PathRule(true, true, false).read(path)).asString().contains("empty-segment");
    assertThat(LENIENT.read(path)).isEqualTo(new PathRule.Reading.Path(path));
  }

  private static PathRule.Reading refused(String reason) {
    return new PathRule.Reading.Refused("The path " + reason + ".");
  }

  @Test
  void whatIsReadStaysTheSameWhenItIsReadAgainAndNeverClimbs() {
    String[] words = {"/", ".", "..", "%2e", "%2F", "%5c", ";", "a", "%61", "%", "%25", "%3b", "é"};
    Random random = new Random(SEED);
    for (int i = 0; i < 200_000; i++) {
      StringBuilder path = new StringBuilder("/");
      for (int length = random.nextInt(7); length > 0; length--) {
        path.append(words[random.nextInt(words.length)]);
      }
      PathRule rule =
          new PathRule(random.nextBoolean(), random.nextBoolean(), random.nextBoolean());
      if (rule.read(path.toString()) instanceof PathRule.Reading.Path read) {
        assertThat(rule.read(read.path())).as("seed %d, %s", SEED, path).isEqualTo(read);
        for (String segment : read.path().split("/|%2F|%5C")) {
          assertThat(segment.split(";|%3B", 2)[0]).as("seed %d, %s", SEED, path).isNotIn(".", "..");
        }
      }
    }
  }
}
