package dev.idempotency.gateway.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresUrlTest {

  @Test
  void partsOfAUrlAreRead() {
    PostgresUrl url =
        PostgresUrl.parse(
            "postgresql://al:p%40ss+@db1:5433,db2/shop?schema=keys&sslmode=verify-full");
    assertThat(url.hosts()).isEqualTo("db1:5433,db2");
    assertThat(url.user()).isEqualTo("al");
    assertThat(url.password()).isEqualTo("p@ss+");
    assertThat(url.database()).isEqualTo("shop");
    assertThat(url.schema()).isEqualTo("keys");
    assertThat(url.parameters()).isEqualTo(Map.of("sslmode", "verify-full"));
    assertThat(url.toString()).doesNotContain("ss+").doesNotContain("p%40");
  }

  @Test
  void schemaHasADefault() {
    assertThat(PostgresUrl.parse("postgresql://[::1]/shop").schema()).isEqualTo("idempotency");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "postgresql://",
        "postgresql://host",
        "postgresql://host/",
        "postgresql://host/a/b",
        "mysql://u:s3cr3t@host/a",
        "postgresql://u:s3cr3t@ho st/a",
        "postgresql://u:s3cr3t@host/a#b",
        "postgresql://u:s3cr3t@host/a?schema",
        "postgresql://u:s3cr3t@h\"x/a"
      })
  void malformedUrlIsRefusedWithoutRepeatingIt(String url) {
    assertThatThrownBy(() -> PostgresUrl.parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected: postgresql://")
        .hasMessageNotContaining("s3cr3t");
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          schema=Keys, schema Keys
          schema=pg_keys, schema pg_keys
          schema=a%22b, schema a
          loggerLevel=TRACE, loggerLevel
          socketFactory=evil, socketFactory
          """)
  void unknownParameterIsNamed(String parameter, String named) {
    assertThatThrownBy(() -> PostgresUrl.parse("postgresql://u:s3cr3t@host/a?" + parameter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(named)
        .hasMessageNotContaining("s3cr3t");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          ''; 0
          a,b; 1
          *; 1
          FIRST 2 (a, b, c); 2
          any 3 (*); 3
          2 (a, b); 2
          """)
  void standbysThatACommitWaitsForAreCounted(String names, int expected) {
    assertThat(Assurance.standbys(names)).isEqualTo(expected);
  }
}
