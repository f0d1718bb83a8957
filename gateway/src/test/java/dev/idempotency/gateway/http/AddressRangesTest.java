package dev.idempotency.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which addresses are in which ranges. */
class AddressRangesTest {

  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/8, 10.255.0.1, true",
    "10.0.0.0/8, 11.0.0.1, false",
    "192.168.1.128/25, 192.168.1.127, false",
    "192.168.1.128/25, 192.168.1.128, true",
    "127.0.0.1, 127.0.0.1, true",
    "127.0.0.1, 127.0.0.2, false",
    "0.0.0.0/0, 8.8.8.8, true",
    "0.0.0.0/0, ::1, false",
    "10.0.0.0/8, ::ffff:10.1.1.1, true",
    "2001:db8::/32, 2001:db8:1::5, true",
    "2001:db8::/32, 2001:db9::5, false",
    "::1, 0:0:0:0:0:0:0:1, true",
    "10.0.0.0/8, gw.test, false",
    "10.0.0.0/8, 10.1, false",
    "10.0.0.0/8, '', false"
  })
  void addressIsInItsRangeOnly(String range, String address, boolean inside) {
    assertThat(AddressRanges.of(List.of("203.0.113.7", range)).contains(address)).isEqualTo(inside);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "10.0.0.1/8",
        "10.0.0.0/33",
        "::/129",
        "10.0.0.0/",
        "gw.test",
        "",
        "/8",
        "10.0.0.0/-1",
        "[::1]",
        "fe80::1%eth0"
      })
  void whatIsNoRangeIsRefused(String text) {
    assertThatThrownBy(() -> AddressRanges.of(List.of(text)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(text);
  }

  @Test
  void noneHasNoAddress() {
    assertThat(AddressRanges.NONE.contains("127.0.0.1")).isFalse();
  }
}
