package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QueryParameterTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "id=abc           | abc",
        "a=1&id=abc&b=2   | abc",
        "&&id=abc&        | abc",
        "id=a%62%63       | abc",
        "%69d=abc         | abc",
        "id=a+b%20c       | a b c",
        "id=a%2Bb         | a+b",
        "id=a=b           | a=b",
        "id=%22abc%22     | \"abc\"",
        "%zz=1&id=abc     | abc",
        "x=%zz&id=abc     | abc",
        "id2=x&xid=y&id=abc | abc",
      })
  void parameterIsTheKey(String query, String key) {
    assertThat(QueryParameter.read(query, "id"))
        .isEqualTo(new Reading.Present(new IdempotencyKey(key)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "&", "=abc", "ID=abc", "id%=abc", "i%64%=abc", "x=id=abc", "id;x=1"})
  void queryWithoutTheParameterHasNoKey(String query) {
    assertThat(QueryParameter.read(query, "id")).isEqualTo(IdempotencyKey.absent());
  }

  @Test
  void requestWithoutAQueryHasNoKey() {
    assertThat(QueryParameter.read(null, "id")).isEqualTo(IdempotencyKey.absent());
  }

  @ParameterizedTest
  @CsvSource({
    "id, it is empty",
    "id=, it is empty",
    "id=+, it has nothing but blanks",
    "id=a&id=a, it is given 2 times",
    "id=a&%69d=b&id=c, it is given 3 times",
    "id=%, its percent-encoding is broken",
    "id=%4, its percent-encoding is broken",
    "id=%4&x=1, its percent-encoding is broken",
    "id=%4g, its percent-encoding is broken",
    "id=%00, it has a character outside printable ASCII at position 0",
    "id=caf%C3%A9, it has a character outside printable ASCII at position 3",
  })
  void whatIsNoKeyIsSaidToBeNone(String query, String reason) {
    assertThat(QueryParameter.read(query, "id")).isEqualTo(new Reading.Malformed(reason));
  }

  @Test
  void nameMayHaveAnyCharacters() {
    assertThat(QueryParameter.read("cl%C3%A9+1=abc", "cl\u00e9 1"))
        .isEqualTo(new Reading.Present(new IdempotencyKey("abc")));
  }
}
