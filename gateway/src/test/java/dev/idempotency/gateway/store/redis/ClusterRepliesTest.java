package dev.idempotency.gateway.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.gateway.store.redis.ClusterMap.Range;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What nodes of a Cluster say of slots. */
class ClusterRepliesTest {

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static List<Object> range(long first, long last, Object host, long port) {
    return List.of(first, last, Arrays.asList(host, port, text("id"), List.of()));
  }

  @Test
  void rangesOfMastersAreReadAndReplicasAreNot() {
    List<Object> replica = List.of(text("10.0.0.9"), 6379L, text("id"));
    List<Object> master = List.of(text("10.0.0.1"), 7000L, text("id"), List.of());
    ClusterMap map =
        ClusterMap.read(
            List.of(List.of(0L, 99L, master, replica), range(100, 16383, text("b.test"), 7001)),
            "asked");
    assertThat(map.ranges())
        .containsExactly(
            new Range(0, 99, new Endpoint("10.0.0.1", 7000)),
            new Range(100, 16383, new Endpoint("b.test", 7001)));
    assertThat(map.masters()).hasSize(2);
  }

  @Test
  void nodeThatDoesNotKnowItsAddressIsWhereItWasAsked() {
    ClusterMap map =
        ClusterMap.read(List.of(range(0, 1, null, 7000), range(2, 3, text(""), 7000)), "asked");
    assertThat(map.masters()).containsExactly(new Endpoint("asked", 7000));
  }

  @Test
  void masterWhoseNameIsNotKnownHasNoSlots() {
    assertThat(ClusterMap.read(List.of(range(0, 1, text("?"), 7000)), "asked").ranges()).isEmpty();
  }

  @Test
  void nonsenseIsRefused() {
    for (List<Object> reply :
        List.<List<Object>>of(
            List.of(1L),
            List.of(List.of(0L, 1L)),
            List.of(List.of(text("0"), 1L, List.of(text("h"), 1L))),
            List.of(range(5, 4, text("h"), 7000)),
            List.of(range(0, 16384, text("h"), 7000)),
            List.of(range(-1, 4, text("h"), 7000)),
            List.of(range(0, 4, text("h"), 70_000)))) {
      assertThatIllegalArgumentException().isThrownBy(() -> ClusterMap.read(reply, "asked"));
    }
  }

  @Test
  void referralsAreRead() {
    assertThat(Redirection.parse("MOVED 3999 127.0.0.1:6381", "self"))
        .isEqualTo(new Redirection(true, 3999, new Endpoint("127.0.0.1", 6381)));
    assertThat(Redirection.parse("ASK 0 ::1:6381", "self"))
        .isEqualTo(new Redirection(false, 0, new Endpoint("::1", 6381)));
    assertThat(Redirection.parse("MOVED 16383 :6381", "self").node())
        .isEqualTo(new Endpoint("self", 6381));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "MOVED",
        "MOVED 1",
        "MOVED x h:1",
        "MOVED 16384 h:1",
        "MOVED -1 h:1",
        "ASK 1 h",
        "ASK 1 h:x",
        "ASK 1 h:",
        "ASK 1 h:0",
        "ASK 1 h:65536"
      })
  void brokenReferralsAreRefused(String error) {
    assertThatIllegalArgumentException().isThrownBy(() -> Redirection.parse(error, "self"));
  }
}
