package dev.idempotency.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.PathRule;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestHeadsTest {

  static ServerOptions options(String... hosts) {
    return new ServerOptions(
        16 * 1024,
        20,
        8 * 1024,
        100,
        0,
        Duration.ofSeconds(60),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        0,
        Duration.ofSeconds(60),
        PathRule.STRICT,
        Set.of(hosts),
        AddressRanges.NONE,
        new Http2Options(100, 65_536, 200));
  }

  private static RequestHeads.Verdict judge(
      String scheme, String method, @Nullable String authority, String target, String... fields) {
    return new RequestHeads(options(), scheme)
        .judge(method, authority, target, Headers.of(fields), true);
  }

  private static RequestHead good(RequestHeads.Verdict verdict) {
    assertThat(verdict).isInstanceOf(RequestHeads.Verdict.Good.class);
    return ((RequestHeads.Verdict.Good) verdict).head();
  }

  private static Response refused(RequestHeads.Verdict verdict) {
    assertThat(verdict).isInstanceOf(RequestHeads.Verdict.Refused.class);
    return ((RequestHeads.Verdict.Refused) verdict).response();
  }

  @ParameterizedTest
  @CsvSource({
    "http,  GET,     /a?b=c,               gw.test,     /a?b=c",
    "http,  GET,     /%61?%61=%2f;//..,    gw.test,     /a?%61=%2f;//..",
    "http,  GET,     http://gw.test/a?b,   gw.test,     /a?b",
    "http,  GET,     HTTP://GW.test:80/a,  gw.test,     /a",
    "http,  GET,     http://gw.test,       gw.test,     /",
    "http,  GET,     http://gw.test?b=c,   gw.test,     /?b=c",
    "https, GET,     https://gw.test/a,    gw.test:443, /a",
    "http,  OPTIONS, /a,                   gw.test,     /a",
    "http,  OPTIONS, http://gw.test/,      gw.test,     /"
  })
  void targetIsReadInOriginForm(
      String scheme, String method, String target, String host, String origin) {
    RequestHead head = good(judge(scheme, method, null, target, "Host", host));
    assertThat(head.target()).isEqualTo(origin);
    assertThat(head.headers().count("Host")).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "http,  https://gw.test/a",
    "https, http://gw.test/a",
    "http,  http://user@gw.test/a",
    "http,  http://gw.test:81/a",
    "http,  http://other.test/a",
    "http,  http:///a",
    "http,  http:/a",
    "http,  http:gw.test/a",
    "http,  ftp://gw.test/a",
    "http,  gw.test:80",
    "http,  gw.test/a",
    "http,  http://gw.test#a",
    "http,  http://gw.test\\a",
    "http,  http://gw.test/a/../b",
    "http,  http://gw.test//a",
    "http,  http://gw.test*",
    "http,  *",
    "http,  ?a",
    "http,  /a?b#c",
    "http,  /a?b c",
    "http,  /a?\u00e9",
    "http,  /a?\\"
  })
  void targetThatIsNoneIsRefused(String scheme, String target) {
    assertThat(refused(judge(scheme, "GET", null, target, "Host", "gw.test")).status())
        .isEqualTo(400);
  }

  @Test
  void authorityOfTheRequestWinsAndMustBeThatOfHost() {
    RequestHead head = good(judge("https", "GET", "GW.test:443", "/a", "Host", "gw.test"));
    assertThat(head.headers().all("Host")).containsExactly("GW.test:443");
    assertThat(good(judge("https", "GET", "gw.test", "/a")).headers().get("Host"))
        .isEqualTo("gw.test");
    assertThat(refused(judge("https", "GET", "gw.test", "/a", "Host", "x")).status())
        .isEqualTo(400);
    assertThat(refused(judge("https", "GET", "u@gw.test", "/a")).status()).isEqualTo(400);
    assertThat(refused(judge("https", "GET", "gw.test", "https://gw.test/a")).status())
        .isEqualTo(400);
  }

  @Test
  void hostIsThereOnceOrWhereItIsNotDemandedNotAtAll() {
    RequestHeads heads = new RequestHeads(options(), "http");
    assertThat(good(heads.judge("GET", null, "/a", new Headers(), false)).headers().isEmpty())
        .isTrue();
    assertThat(refused(heads.judge("GET", null, "/a", new Headers(), true)).status())
        .isEqualTo(400);
    assertThat(refused(heads.judge("GET", null, "/a", Headers.of("Host", ""), false)).status())
        .isEqualTo(400);
    assertThat(refused(judge("http", "GET", null, "/a", "Host", "a", "host", "a")).status())
        .isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({
    "gw.test,      200",
    "GW.TEST:8080, 200",
    "[::1]:80,     200",
    "other.test,   421",
    "gw.test.,     421",
    "a.gw.test,    421"
  })
  void hostThatIsNotServedIsMisdirected(String host, int status) {
    RequestHeads heads = new RequestHeads(options("gw.test", "::1"), "http");
    RequestHeads.Verdict verdict = heads.judge("GET", null, "/a", Headers.of("Host", host), true);
    if (status == 200) {
      good(verdict);
    } else {
      Response refusal = refused(verdict);
      assertThat(refusal.status()).isEqualTo(status);
      assertThat(new String(refusal.body(), StandardCharsets.UTF_8))
          .contains("misdirected-request");
    }
  }

  @ParameterizedTest
  @CsvSource({"*", "http://gw.test"})
  void optionsOfTheServerAreAnsweredHere(String target) {
    RequestHeads.Verdict verdict = judge("http", "OPTIONS", null, target, "Host", "gw.test");
    assertThat(verdict).isInstanceOf(RequestHeads.Verdict.Answered.class);
    Response response = ((RequestHeads.Verdict.Answered) verdict).response();
    assertThat(response.status()).isEqualTo(204);
    assertThat(response.head().headers().get("Allow")).contains("OPTIONS");
  }

  @Test
  void optionsThatMayGoNoFurtherAreAnsweredHereAndOthersAreCounted() {
    assertThat(judge("http", "OPTIONS", null, "/a", "Host", "a", "Max-Forwards", "0"))
        .isInstanceOf(RequestHeads.Verdict.Answered.class);
    assertThat(forwards("OPTIONS", "1")).isEqualTo("0");
    assertThat(forwards("OPTIONS", "0010")).isEqualTo("9");
    assertThat(forwards("OPTIONS", "99999999999999999999")).isEqualTo("999999998");
    assertThat(forwards("GET", "7")).isEqualTo("7");
    for (String wrong : new String[] {"", "-1", "x", "1 1", "1.0"}) {
      assertThat(
              refused(judge("http", "OPTIONS", null, "/", "Host", "a", "Max-Forwards", wrong))
                  .status())
          .isEqualTo(400);
    }
  }

  private static @Nullable String forwards(String method, String value) {
    return good(judge("http", method, null, "/a", "Host", "gw.test", "Max-Forwards", value))
        .headers()
        .get("Max-Forwards");
  }

  @ParameterizedTest
  @CsvSource({"TRACE,405", "CONNECT,501", "G T,400", "GÉT,400", "'',400", "GET:,400"})
  void methodThatIsNotTakenIsRefused(String method, int status) {
    Response refusal = refused(judge("http", method, null, "/a", "Host", "gw.test"));
    assertThat(refusal.status()).isEqualTo(status);
    assertThat(refusal.head().headers().contains("Allow")).isEqualTo(status == 405);
  }

  @Test
  void methodOfAnyOtherNameIsTaken() {
    good(judge("http", "get", null, "/a", "Host", "gw.test"));
    good(judge("http", "A".repeat(32), null, "/a", "Host", "gw.test"));
    refused(judge("http", "A".repeat(33), null, "/a", "Host", "gw.test"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host",
        "close, host",
        "Content-Length",
        "Transfer-Encoding",
        "Authorization",
        "keep-alive,,COOKIE",
        "Idempotency-Key",
        "Idempotency_Key",
        "Idempotency-Attempt",
        "Forwarded",
        "Via",
        "X-Forwarded-For",
        "x_forwarded_anything",
        "Expect",
        "Content-Type",
        "Content-Encoding",
        "Date",
        "Cache-Control",
        "\tRange ",
        "traceparent"
      })
  void endToEndFieldThatIsNominatedIsRefused(String connection) {
    Response refusal =
        refused(judge("http", "GET", null, "/a", "Host", "a", "Connection", connection));
    assertThat(refusal.status()).isEqualTo(400);
    refused(
        judge(
            "http",
            "GET",
            null,
            "/a",
            "Host",
            "a",
            "Connection",
            "close",
            "connection",
            connection));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"close", "keep-alive", "Keep-Alive, X-Mine", "Upgrade, HTTP2-Settings", "TE", "x"})
  void optionOfTheConnectionIsTaken(String connection) {
    good(judge("http", "GET", null, "/a", "Host", "gw.test", "Connection", connection));
  }

  @Test
  void expectationOtherThanContinueFails() {
    good(judge("http", "POST", null, "/a", "Host", "a", "Expect", "100-Continue"));
    assertThat(
            refused(
                    judge(
                        "http",
                        "POST",
                        null,
                        "/a",
                        "Host",
                        "a",
                        "Expect",
                        "100-continue",
                        "Expect",
                        "x"))
                .status())
        .isEqualTo(417);
  }

  @Test
  void moreFieldsThanAllowedAreTooMany() {
    Headers headers = Headers.of("Host", "gw.test");
    for (int i = 1; i < 20; i++) {
      headers.add("X", "y");
    }
    RequestHeads heads = new RequestHeads(options(), "http");
    good(heads.judge("GET", null, "/a", headers, true));
    assertThat(refused(heads.judge("GET", null, "/a", headers.add("X", "y"), true)).status())
        .isEqualTo(431);
  }
}
