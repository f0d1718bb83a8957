package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PreferenceTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "wait=10 | 10",
        "WAIT = 10 | 10",
        "wait=\"7\" | 7",
        "respond-async, wait=5 | 5",
        "return=minimal; foo=\"a, wait=3\", wait=5 | 5",
        "foo=\"a\\\", wait=3\", wait=5 | 5",
        "wait=5; strict | 5",
        "wait=0 | 0",
        "wait=5, wait=9 | 5",
        "wait=99999999999999999999 | 1000000",
        // The first counts, and says nothing.
        "wait=x, wait=9 | -1",
        "wait | -1",
        "wait= | -1",
        "wait=-1 | -1",
        "wait=1.5 | -1",
        "await=5 | -1",
        "respond-async | -1",
        "foo=\"wait=5 | -1",
        "`` | -1",
      })
  void waitIsReadAsTheStandardSays(String field, int seconds) {
    assertThat(Preference.wait(Headers.of("prefer", field))).isEqualTo(seconds);
  }

  @Test
  void firstOfSeveralFieldsCounts() {
    Headers fields = Headers.of("Prefer", "return=minimal", "Prefer", "wait=3", "Prefer", "wait=8");
    assertThat(Preference.wait(fields)).isEqualTo(3);
    assertThat(Preference.wait(new Headers())).isEqualTo(-1);
  }
}
