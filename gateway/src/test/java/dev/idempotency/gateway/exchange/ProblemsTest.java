package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProblemsTest {

  @Test
  void reusedKeyNamesThePartsThatDiffer() {
    assertThat(detail(Set.of(Part.BODY))).contains("request. The body differs. Use a new key");
    assertThat(detail(Set.of(Part.HEADERS))).contains("The headers that count differ.");
    assertThat(detail(Set.of(Part.BODY, Part.QUERY))).contains("The query and the body differ.");
    assertThat(detail(EnumSet.range(Part.TARGET, Part.HEADERS)))
        .contains("The method or path, the query and the headers that count differ.");
    assertThat(detail(Set.of()))
        .contains("another method, path, query, media type or body. Use a new key");
  }

  private static String detail(Set<Part> parts) {
    return Problems.keyReused(parts).detail();
  }
}
