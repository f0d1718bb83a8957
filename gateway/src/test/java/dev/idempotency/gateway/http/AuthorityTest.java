package dev.idempotency.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AuthorityTest {

  @ParameterizedTest
  @CsvSource({
    "gw.test,                     gw.test,                   -1",
    "GW.Test,                     gw.test,                   -1",
    "gw.test:,                    gw.test,                   -1",
    "gw.test:80,                  gw.test,                   80",
    "gw.test:00080,               gw.test,                   80",
    "gw.test.,                    gw.test.,                  -1",
    "gw_1-a~b:65535,              gw_1-a~b,                  65535",
    "localhost,                   localhost,                 -1",
    "127.0.0.1:8080,              127.0.0.1,                 8080",
    "[::1],                       [::1],                     -1",
    "[::1]:8080,                  [::1],                     8080",
    "[::],                        [::],                      -1",
    "[1::],                       [1::],                     -1",
    "[2001:DB8::a:1]:443,         [2001:db8::a:1],           443",
    "[1:2:3:4:5:6:7:8],           [1:2:3:4:5:6:7:8],         -1",
    "[1:2:3:4:5:6:7::],           [1:2:3:4:5:6:7::],         -1",
    "[::ffff:127.0.0.1],          [::ffff:127.0.0.1],        -1",
    "[1:2:3:4:5:6:1.2.3.4],       [1:2:3:4:5:6:1.2.3.4],     -1"
  })
  void hostWithOrWithoutPortIsRead(String text, String host, int port) {
    assertThat(Authority.read(text)).isEqualTo(new Authority(host, port));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        ":80",
        ".",
        ".gw.test",
        "gw..test",
        "gw.test/x",
        "gw.test?x",
        "gw.test#x",
        "gw.test\\x",
        "gw.test, other.test",
        "gw.test,other.test",
        "gw.test;x",
        "gw test",
        "gw.test ",
        " gw.test",
        "gw\ttest",
        "user@gw.test",
        "user:pw@gw.test",
        "gw.test:port",
        "gw.test:80:80",
        "gw.test:-1",
        "gw.test:+80",
        "gw.test:99999",
        "gw.test:65536",
        "gw.test:000080",
        "gw.test:80 ",
        "gw.test:\u0661",
        "gw%2etest",
        "gw%00",
        "g\u00fc.test",
        "<script>",
        "\"gw.test\"",
        "*",
        "http://gw.test",
        "::1",
        "2001:db8::1",
        "[2001:db8::1",
        "2001:db8::1]",
        "[]",
        "[]:80",
        "[:]",
        "[:::]",
        "[1::2::3]",
        "[1:2:3:4:5:6:7]",
        "[1:2:3:4:5:6:7:8:9]",
        "[1:2:3:4:5:6:7:8::]",
        "[:1:2:3:4:5:6:7]",
        "[1:2:3:4:5:6:7:]",
        "[12345::]",
        "[g::1]",
        "[127.0.0.1]",
        "[::127.0.0.256]",
        "[::127.0.0]",
        "[::127.0.0.01]",
        "[127.0.0.1::]",
        "[::1%25eth0]",
        "[::1%eth0]",
        "[fe80::1%1]",
        "[v1.a]",
        "[gw.test]",
        "[::1]x",
        "[::1]8080",
        "[::1]:x",
        "[::1]:99999",
        "[[::1]]",
        "[::1],[::2]"
      })
  void whatIsNoHostIsNotRead(String text) {
    assertThat(Authority.read(text)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "gw.test,     GW.TEST,     80,  true",
    "gw.test,     gw.test:80,  80,  true",
    "gw.test:,    gw.test:80,  80,  true",
    "gw.test,     gw.test:443, 443, true",
    "gw.test,     gw.test:443, 80,  false",
    "gw.test:81,  gw.test:82,  80,  false",
    "gw.test,     gw2.test,    80,  false",
    "[::1]:80,    [::1],       80,  true"
  })
  void sameHostAndPortAreTheSame(String one, String other, int defaultPort, boolean same) {
    Authority first = Objects.requireNonNull(Authority.read(one));
    Authority second = Objects.requireNonNull(Authority.read(other));
    assertThat(first.isSameAs(second, defaultPort)).isEqualTo(same);
    assertThat(second.isSameAs(first, defaultPort)).isEqualTo(same);
  }
}
