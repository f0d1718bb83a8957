package dev.idempotency.gateway.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import org.junit.jupiter.api.Test;

class FingerprintTest {

  @Test
  void marksDoNotDecideWhatIsEqual() {
    assertThat(of(2, 1)).isEqualTo(of(2, 2)).hasSameHashCodeAs(of(2, 2));
    assertThat(of(2, 1)).isNotEqualTo(of(1, 1));
  }

  @Test
  void differingMarksNameTheirParts() {
    Fingerprint one = of(2, 0x0001_0002_0003_0004L);

    assertThat(one.differing(of(2, 0x0001_0002_0003_FFFFL))).containsExactly(Part.BODY);
    assertThat(one.differing(of(2, 0xFFFF_0002_0003_0004L))).containsExactly(Part.TARGET);
    assertThat(one.differing(of(2, 0x0001_FFFF_FFFF_0004L)))
        .containsExactly(Part.QUERY, Part.HEADERS);
  }

  @Test
  void marksThatTellNothingNameNothing() {
    Fingerprint one = of(2, 0x0001_0002_0003_0004L);

    assertThat(one.differing(of(2, Fingerprint.NO_MARKS))).isEmpty();
    assertThat(of(2, Fingerprint.NO_MARKS).differing(one)).isEmpty();
    assertThat(one.differing(of(1, 0x0001_0002_0003_FFFFL))).isEmpty();
    assertThat(one.differing(of(2, 0x1111_1111_1111_1111L))).isEmpty();
    assertThat(one.differing(Fingerprint.OPEN)).isEmpty();
  }

  private static Fingerprint of(int version, long marks) {
    return new Fingerprint(version, new byte[Fingerprint.LENGTH], marks);
  }
}
