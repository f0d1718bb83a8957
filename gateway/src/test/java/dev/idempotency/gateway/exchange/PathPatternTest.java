package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathPatternTest {

  @ParameterizedTest
  @CsvSource({
    "/**,               /,                true",
    "/**,               /a/b,             true",
    "/orders,           /orders,          true",
    "/orders,           /orders/,         false",
    "/orders,           /order,           false",
    "/orders,           /ordersx,         false",
    "/orders/,          /orders/,         true",
    "/orders/**,        /orders,          true",
    "/orders/**,        /orders/,         true",
    "/orders/**,        /orders/1/2,      true",
    "/orders/**,        /ordersx,         false",
    "/orders/**,        /orders%2F1,      false",
    "/orders/*,         /orders/1,        true",
    "/orders/*,         /orders/,         false",
    "/orders/*,         /orders/1/2,      false",
    "/t/{tenant}/o,     /t/acme/o,        true",
    "/t/{tenant}/o,     /t//o,            false",
    "/t/{tenant}/o,     /t/a/b/o,         false",
    "/t/{tenant}/**,    /t/acme,          true",
    "/a%20b,            /a%20b,           true",
    "/Orders,           /orders,          false",
    "/,                 /,                true",
    "/,                 /a,               false"
  })
  void patternTakesPaths(String pattern, String path, boolean matches) {
    assertThat(PathPattern.of(pattern).matches(path)).isEqualTo(matches);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "orders", "/a**", "/**/a", "/a*b", "/{", "/{a b}", "/a?b", "/a#b"})
  void textThatIsNoPatternIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PathPattern.of(text))
        .withMessageContaining("expected:");
  }
}
