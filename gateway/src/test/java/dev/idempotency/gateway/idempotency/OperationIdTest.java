package dev.idempotency.gateway.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OperationIdTest {

  private static final List<String> ACME = List.of("acme");

  private static Fingerprint print(int version, int fill) {
    byte[] hash = new byte[Fingerprint.LENGTH];
    Arrays.fill(hash, (byte) fill);
    return new Fingerprint(version, hash);
  }

  @Test
  void nameBySentKeyStaysWhatItWas() {
    // Records of gateways before this one are found by it.
    assertThat(OperationId.of("create-order", ACME, new IdempotencyKey("k1")).toString())
        .isEqualTo("b6f95c3804bccc3cbcd09edaedfeaff69431d82dc53f6217832df266255bb583");
  }

  @Test
  void equalRequestsOfOneCallerAreOneOperation() {
    assertThat(OperationId.derived("orders", ACME, print(1, 7)))
        .isEqualTo(OperationId.derived("orders", ACME, print(1, 7)));
  }

  @Test
  void whateverDiffersMakesAnotherOperation() {
    Stream<OperationId> names =
        Stream.of(
            OperationId.derived("orders", ACME, print(1, 7)),
            OperationId.derived("orders", ACME, print(2, 7)),
            OperationId.derived("orders", ACME, print(1, 8)),
            OperationId.derived("refunds", ACME, print(1, 7)),
            OperationId.derived("orders", List.of("other"), print(1, 7)),
            OperationId.derived("orders", List.of("acme", ""), print(1, 7)),
            OperationId.derived("orders", List.of("ac", "me"), print(1, 7)));
    assertThat(names).doesNotHaveDuplicates();
  }

  @Test
  void derivedNameIsNeverThatOfASentKey() {
    // Version 32 and its hash look like the length of a key and the key.
    assertThat(OperationId.derived("orders", ACME, print(32, 7)))
        .isNotEqualTo(OperationId.of("orders", ACME, new IdempotencyKey("\u0007".repeat(32))));
  }

  @Test
  void requestThatIsNotKnownYetHasNoName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> OperationId.derived("orders", ACME, Fingerprint.OPEN));
  }
}
