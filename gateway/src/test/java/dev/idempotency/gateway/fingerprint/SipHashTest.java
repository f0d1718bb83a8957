package dev.idempotency.gateway.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SipHashTest {

  private static final long KEY0 = 0x0706050403020100L;
  private static final long KEY1 = 0x0f0e0d0c0b0a0908L;

  /** The test values of the paper (appendix A) and of its reference code. */
  @Test
  void knownValuesComeOut() {
    byte[] bytes = new byte[64];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }

    assertThat(SipHash.hash(KEY0, KEY1, bytes, 0, 15)).isEqualTo(0xa129ca6149be45e5L);
    assertThat(SipHash.hash(KEY0, KEY1, bytes, 0, 0)).isEqualTo(0x726fdb47dd0e0e31L);
    assertThat(SipHash.hash(KEY0, KEY1, bytes, 0, 1)).isEqualTo(0x74f839c593dc67fdL);
    assertThat(SipHash.hash(KEY0, KEY1, bytes, 0, 8)).isEqualTo(0x93f5f5799a932462L);
  }

  @Test
  void onlyTheRangeCounts() {
    byte[] bytes = {9, 0, 1, 2, 9};

    assertThat(SipHash.hash(KEY0, KEY1, bytes, 1, 4))
        .isEqualTo(SipHash.hash(KEY0, KEY1, new byte[] {0, 1, 2}, 0, 3));
  }
}
