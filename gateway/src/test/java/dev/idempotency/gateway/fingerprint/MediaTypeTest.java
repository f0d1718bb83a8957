package dev.idempotency.gateway.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MediaTypeTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/json                      | application/json",
        "Application/JSON                      | application/json",
        "application/json; charset=utf-8       | application/json",
        "application/json ;\tCharset=\"UTF-8\" | application/json",
        "application/json;                     | application/json",
        "application/json; ; v=1               | application/json;v=1",
        "application/json; Profile=\"a; b\"    | application/json;profile=\"a; b\"",
        "application/vnd.api+json; charset=UTF-8; v=2 | application/vnd.api+json;v=2",
        "image/svg+JSON                        | image/svg+json",
      })
  void jsonIsToldByTypeAndSuffix(String value, String jsonText) {
    MediaType type = MediaType.of(value);

    assertThat(type.isJson()).isTrue();
    assertThat(type.jsonText()).isEqualTo(jsonText);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/json; charset=iso-8859-1  | application/json;charset=iso-8859-1",
        "application/json; charset=utf-8; charset=utf-16 | application/json;charset=utf-8;charset=utf-16",
        "application/x-ndjson                  | application/x-ndjson",
        "application/json-seq                  | application/json-seq",
        "application/geo+json-seq              | application/geo+json-seq",
        "text/json                             | text/json",
        "text/plain; CharSet=UTF-8             | text/plain;charset=UTF-8",
      })
  void otherTypesAreNoJson(String value, String text) {
    MediaType type = MediaType.of(value);

    assertThat(type.isJson()).isFalse();
    assertThat(type.text()).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "json",
        "application/",
        "/json",
        "application/json; charset",
        "application/json; =x",
        "application/json; a=",
        "application/json; a=\"x",
        "application/json; a=\"x\\",
        "application/json, text/plain",
        "application/json x",
        "application / json",
        "\u212a/json",
      })
  void whatDoesNotParseStaysAsItCame(String value) {
    assertThat(MediaType.of(value)).isEqualTo(new MediaType(value, value, false));
  }
}
