package dev.idempotency.gateway.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutcomePolicyTest {

  private static final OutcomePolicy BY_DEFAULT = new OutcomePolicy(Map.of());

  private static ResponseHead head(int status, String... fields) {
    return new ResponseHead(status, Headers.of(fields));
  }

  @ParameterizedTest
  @CsvSource({
    "200, COMPLETED",
    "301, COMPLETED",
    "400, COMPLETED",
    "422, COMPLETED",
    "499, COMPLETED",
    "500, COMPLETED",
    "501, COMPLETED",
    "505, COMPLETED",
    "401, RELEASED",
    "403, RELEASED",
    "408, RELEASED",
    "425, RELEASED",
    "429, RELEASED",
    "502, UNKNOWN",
    "503, UNKNOWN",
    "504, UNKNOWN",
    "507, UNKNOWN",
    "599, UNKNOWN",
    "999, UNKNOWN"
  })
  void statusDecidesByDefault(int status, Outcome outcome) {
    assertThat(BY_DEFAULT.of(head(status))).isEqualTo(outcome);
  }

  @Test
  void unavailableWithRetryAfterReleases() {
    assertThat(BY_DEFAULT.of(head(503, "retry-after", "1"))).isEqualTo(Outcome.RELEASED);
  }

  @Test
  void routeComesBeforeTheDefaultAndTheUpstreamBeforeTheRoute() {
    OutcomePolicy policy = new OutcomePolicy(Map.of(200, Outcome.UNKNOWN));
    assertThat(policy.of(head(200))).isEqualTo(Outcome.UNKNOWN);
    assertThat(policy.of(head(201))).isEqualTo(Outcome.COMPLETED);
    assertThat(policy.of(head(200, OutcomePolicy.HEADER, "released"))).isEqualTo(Outcome.RELEASED);
  }

  @ParameterizedTest
  @CsvSource({
    "completed, ,         COMPLETED",
    "released,  ,         RELEASED",
    "' Released ', ,      RELEASED",
    "unknown,   ,         ",
    "'',        ,         ",
    "released;x=1, ,      ",
    "completed, completed, COMPLETED",
    "completed, released, ",
    "released,  perhaps,  "
  })
  void onlyOneKnownWordIsTheUpstreamsOwn(
      String first, @Nullable String second, @Nullable Outcome outcome) {
    ResponseHead head = head(200, OutcomePolicy.HEADER, first);
    if (second != null) {
      head.headers().add(OutcomePolicy.HEADER, second);
    }
    assertThat(OutcomePolicy.said(head)).isEqualTo(outcome);
  }
}
