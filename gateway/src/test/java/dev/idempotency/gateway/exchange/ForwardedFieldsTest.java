package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an upstream is told of the client, and who is believed about it. */
class ForwardedFieldsTest {

  private static final Peer STRANGER = new Peer("203.0.113.7", "https", "1.1", false, null);
  private static final Peer STRANGER_V6 = new Peer("2001:db8::7", "https", "2", false, null);
  private static final Peer PROXY = new Peer("10.0.0.1", "http", "1.1", true, null);

  private final ForwardedFields fields =
      new ForwardedFields(AddressRanges.of(List.of("10.0.0.0/8", "fd00::/8")));

  private Headers sent(Peer peer, String... received) {
    RequestHead head = RequestHead.of("POST", "/orders", Headers.of(received));
    return fields.of(head, peer, 0).headers();
  }

  @Test
  void strangerIsNotBelieved() {
    Headers sent =
        sent(
            STRANGER,
            "Host",
            "api.test",
            "Forwarded",
            "for=1.2.3.4",
            "X-Forwarded-For",
            "1.2.3.4",
            "x_forwarded_for",
            "1.2.3.4",
            "X-Forwarded-Proto",
            "ftp",
            "X-Forwarded-Host",
            "evil.test",
            "X-Forwarded-Port",
            "1");
    assertThat(sent.all("X-Forwarded-For")).containsExactly("203.0.113.7");
    assertThat(sent.all("X-Forwarded-Proto")).containsExactly("https");
    assertThat(sent.all("X-Forwarded-Host")).containsExactly("api.test");
    assertThat(sent.all("Forwarded"))
        .containsExactly("for=203.0.113.7;proto=https;host=\"api.test\"");
    assertThat(sent.contains("X-Forwarded-Port") || sent.contains("x_forwarded_for")).isFalse();
  }

  @Test
  void ipv6AddressIsBracketedAndQuotedInForwardedOnly() {
    Headers sent = sent(STRANGER_V6, "Host", "[::1]:8080");
    assertThat(sent.all("X-Forwarded-For")).containsExactly("2001:db8::7");
    assertThat(sent.all("Forwarded"))
        .containsExactly("for=\"[2001:db8::7]\";proto=https;host=\"[::1]:8080\"");
  }

  /** The entries before the first address that is no trusted proxy came from a stranger. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "203.0.113.9                     | 203.0.113.9, 10.0.0.1",
        "203.0.113.9, 10.0.0.2           | 203.0.113.9, 10.0.0.2, 10.0.0.1",
        "6.6.6.6, 203.0.113.9, 10.0.0.2  | 203.0.113.9, 10.0.0.2, 10.0.0.1",
        "6.6.6.6, 203.0.113.9            | 203.0.113.9, 10.0.0.1",
        "10.6.6.6, 203.0.113.9           | 203.0.113.9, 10.0.0.1",
        "evil, 203.0.113.9               | 203.0.113.9, 10.0.0.1",
        "203.0.113.9, unknown, 10.0.0.2  | 10.0.0.2, 10.0.0.1",
        "203.0.113.9:4711                | 203.0.113.9, 10.0.0.1",
        "[2001:db8::9]:4711, fd00::2     | 2001:db8::9, fd00::2, 10.0.0.1",
        "''                              | 10.0.0.1",
        "203.0.113.9,                    | 10.0.0.1",
      })
  void trustedProxyIsBelievedAsFarAsTrustGoes(String received, String expected) {
    assertThat(sent(PROXY, "X-Forwarded-For", received).all("X-Forwarded-For"))
        .containsExactly(expected);
  }

  @Test
  void listsOverSeveralLinesAreOneList() {
    Headers sent =
        sent(PROXY, "X-Forwarded-For", "6.6.6.6, 203.0.113.9", "X-Forwarded-For", "10.0.0.3");
    assertThat(sent.all("X-Forwarded-For")).containsExactly("203.0.113.9, 10.0.0.3, 10.0.0.1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "for=203.0.113.9;proto=https | for=203.0.113.9;proto=https, ",
        "for=6.6.6.6, for=203.0.113.9, For=10.0.0.2;by=x | for=203.0.113.9, For=10.0.0.2;by=x, ",
        "for=\"[2001:db8::9]:47\" | for=\"[2001:db8::9]:47\", ",
        "for=1.1.1.1, for=_hidden, for=10.0.0.2 | for=_hidden, for=10.0.0.2, ",
        "for=1.1.1.1, proto=https, for=10.0.0.2 | proto=https, for=10.0.0.2, ",
        "for=1.1.1.1 for=2.2.2.2 | '' ",
        "for=\"1.1.1.1 | '' ",
        "host=\"a,b;c\\\"d\";for=203.0.113.9 | host=\"a,b;c\\\"d\";for=203.0.113.9, ",
      })
  void forwardedIsBelievedAsFarAsTrustGoes(String received, String kept) {
    assertThat(sent(PROXY, "Forwarded", received).all("Forwarded"))
        .containsExactly((kept + "for=10.0.0.1;proto=http").replace(",for", ", for"));
  }

  @Test
  void whatOneFamilySaysIsSaidInTheOtherToo() {
    assertThat(sent(PROXY, "X-Forwarded-For", "2001:db8::9, 10.0.0.2").all("Forwarded"))
        .containsExactly("for=\"[2001:db8::9]\", for=10.0.0.2, for=10.0.0.1;proto=http");
    assertThat(sent(PROXY, "Forwarded", "for=_x, for=10.0.0.2").all("X-Forwarded-For"))
        .containsExactly("unknown, 10.0.0.2, 10.0.0.1");
  }

  @Test
  void trustedProxySaysHowTheClientCame() {
    Headers sent =
        sent(
            PROXY,
            "Host",
            "inner.test",
            "X-Forwarded-Proto",
            "https",
            "X-Forwarded-Host",
            "api.test",
            "X-Forwarded-Port",
            "443");
    assertThat(sent.all("X-Forwarded-Proto")).containsExactly("https");
    assertThat(sent.all("X-Forwarded-Host")).containsExactly("api.test");
    assertThat(sent.all("X-Forwarded-Port")).containsExactly("443");
  }

  @ParameterizedTest
  @CsvSource({"ftp", "'https, http'", "HTTPS"})
  void schemeOfNoKnownFormIsReplaced(String scheme) {
    assertThat(sent(PROXY, "X-Forwarded-Proto", scheme).all("X-Forwarded-Proto"))
        .containsExactly("http");
    assertThat(sent(PROXY, "X-Forwarded-Host", "a\" b").contains("X-Forwarded-Host")).isFalse();
  }

  @Test
  void longListIsNotReadAtAll() {
    String list = "a=\"" + "\\\"".repeat(4000) + "\"";
    assertThat(sent(PROXY, "Forwarded", list).all("Forwarded"))
        .containsExactly("for=10.0.0.1;proto=http");
  }

  @ParameterizedTest
  @CsvSource({
    "trailers, true",
    "'gzip, trailers;q=1', false",
    "'gzip, Trailers', true",
    "gzip, false"
  })
  void onlyTrailersIsLeftOfTe(String value, boolean left) {
    List<String> sent = sent(STRANGER, "TE", value, "Connection", "TE").all("TE");
    assertThat(sent).isEqualTo(left ? List.of("trailers") : List.of());
  }

  @Test
  void viaIsContinued() {
    assertThat(sent(STRANGER_V6, "Via", "1.0 a", "Via", "1.1 b").all("Via"))
        .containsExactly("1.0 a, 1.1 b, 2 idempotency-gateway");
  }
}
