package dev.idempotency.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HeadersTest {

  private final Headers headers = Headers.of("A", "1", "b", "2", "a", "3");

  @Test
  void namesCompareWithoutRegardToCaseAndLinesKeepTheirOrder() {
    assertThat(headers.get("a")).isEqualTo("1");
    assertThat(headers.all("A")).containsExactly("1", "3");
    assertThat(headers.count("B")).isEqualTo(1);
    assertThat(headers.contains("c")).isFalse();
    assertThat(headers.get("c")).isNull();
    assertThat(headers.size()).isEqualTo(3);
    assertThat(headers.name(2)).isEqualTo("a");
    assertThat(headers.value(1)).isEqualTo("2");
  }

  @Test
  void setLeavesOneLineAtTheFirstPlace() {
    headers.set("a", "4");
    assertThat(headers).isEqualTo(Headers.of("A", "4", "b", "2"));
    headers.set("c", "5");
    assertThat(headers).isEqualTo(Headers.of("A", "4", "b", "2", "c", "5"));
  }

  @Test
  void removeTakesAllLinesOfThatName() {
    assertThat(headers.remove("A")).isTrue();
    assertThat(headers).isEqualTo(Headers.of("b", "2"));
    assertThat(headers.remove("A")).isFalse();
  }

  @Test
  void copyIsIndependent() {
    Headers copy = headers.copy();
    copy.add("c", "4");
    headers.remove("b");
    assertThat(copy).isEqualTo(Headers.of("A", "1", "b", "2", "a", "3", "c", "4"));
    Headers empty = new Headers().copy();
    empty.add("x", "y");
    assertThat(new Headers().isEmpty()).isTrue();
  }

  @Test
  void linesBeyondTheFirstArrayAreKept() {
    Headers many = new Headers();
    for (int i = 0; i < 100; i++) {
      many.add("n" + i, "v" + i);
    }
    assertThat(many.size()).isEqualTo(100);
    assertThat(many.get("N99")).isEqualTo("v99");
    assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> many.name(100));
  }

  @Test
  void equalFieldsHaveEqualHashesWhateverTheCaseOfTheirNames() {
    Headers other = Headers.of("a", "1", "B", "2", "A", "3");
    assertThat(headers).isEqualTo(other).hasSameHashCodeAs(other);
    assertThat(headers).isNotEqualTo(Headers.of("a", "3", "B", "2", "A", "1"));
  }

  @ParameterizedTest
  @CsvSource({
    "close,            true",
    "Close,            true",
    "'keep-alive, close', true",
    "'a,close ,b',     true",
    "',, close',       true",
    "closed,           false",
    "'close-x, x-close', false",
    "'',               false"
  })
  void tokenIsAWholeMemberOfTheList(String value, boolean has) {
    assertThat(
            Headers.of("Connection", "x", "connection", value).containsToken("CONNECTION", "close"))
        .isEqualTo(has);
  }

  @Test
  void valuesAreNotShown() {
    assertThat(Headers.of("Authorization", "secret").toString()).isEqualTo("[Authorization]");
  }

  @Test
  void nameWithoutValueIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> Headers.of("a"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Connection",
        "keep-alive",
        "Proxy-Connection",
        "Proxy-Authenticate",
        "proxy-authorization",
        "Proxy-Authentication-Info",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "UPGRADE",
        "HTTP2-Settings"
      })
  void fieldOfOneConnectionIsHopByHop(String name) {
    assertThat(HopByHop.isHopByHop(name)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Content-Length", "Host", "Via", "Date", "Set-Cookie", "Trailers", "X-Upgrade"})
  void fieldOfTheMessageIsNot(String name) {
    assertThat(HopByHop.isHopByHop(name)).isFalse();
  }

  @Test
  void stripRemovesWhatConnectionNominates() {
    Headers received =
        Headers.of(
            "Connection",
            "close, X-One",
            "x-one",
            "1",
            "Connection",
            "x-two",
            "X-Two",
            "2",
            "X-One-More",
            "3",
            "TE",
            "trailers");
    HopByHop.strip(received);
    assertThat(received).isEqualTo(Headers.of("X-One-More", "3"));
  }
}
