package dev.idempotency.gateway.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
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
  void jsonIsToldByTypeAndSuffix(String value, String dataText) {
    MediaType type = MediaType.of(value);

    assertThat(type.isJson()).isTrue();
    assertThat(type.dataText()).isEqualTo(dataText);
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
  @CsvSource(
      delimiter = '|',
      value = {
        "application/x-www-form-urlencoded | FORM | application/x-www-form-urlencoded",
        "Application/X-WWW-Form-Urlencoded;charset=UTF-8 | FORM | application/x-www-form-urlencoded",
        "application/x-www-form-urlencoded;v=1 | FORM | application/x-www-form-urlencoded;v=1",
        "application/x-www-form-urlencoded;charset=latin1 | OTHER | application/x-www-form-urlencoded;charset=latin1",
        "multipart/form-data; boundary=abc | MULTIPART | multipart/form-data",
        "multipart/form-data; Boundary=\"a bc\" | MULTIPART | multipart/form-data",
        "multipart/form-data; charset=x; boundary=a | MULTIPART | multipart/form-data;charset=x",
        "multipart/form-data; boundary=a; boundary=a | OTHER | multipart/form-data",
        "multipart/form-data; boundary=a; v=1 | OTHER | multipart/form-data;v=1",
        "multipart/form-data; xboundary=b; boundary=a | OTHER | multipart/form-data;xboundary=b",
        "multipart/form-data; boundary=\"a \" | OTHER | multipart/form-data",
        "multipart/form-data; boundary=a#b | OTHER | multipart/form-data",
        "multipart/form-data; boundary=\"a\\b\" | OTHER | multipart/form-data",
        "multipart/form-data; boundary=\"\" | OTHER | multipart/form-data",
        "multipart/form-data | OTHER | multipart/form-data",
        "multipart/mixed; boundary=abc | OTHER | multipart/mixed",
      })
  void formsAndMultipartAreTold(String value, MediaType.Kind kind, String dataText) {
    MediaType type = MediaType.of(value);

    assertThat(type.kind()).isEqualTo(kind);
    assertThat(type.dataText()).isEqualTo(dataText);
    assertThat(type.boundary() != null).isEqualTo(kind == MediaType.Kind.MULTIPART);
  }

  @Test
  void boundaryHasSeventyCharactersAtMost() {
    assertThat(MediaType.of("multipart/form-data; boundary=" + "x".repeat(70)).boundary())
        .isEqualTo("x".repeat(70));
    assertThat(MediaType.of("multipart/form-data; boundary=" + "x".repeat(71)).kind())
        .isEqualTo(MediaType.Kind.OTHER);
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
    assertThat(MediaType.of(value))
        .isEqualTo(new MediaType(value, value, MediaType.Kind.OTHER, null));
  }
}
