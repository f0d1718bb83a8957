package dev.idempotency.gateway.fingerprint;

/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of 64 bits that tells nothing of its
 * input to who lacks the key, and is cheap for the few bytes of a request's head.
 */
final class SipHash {

  private long v0;
  private long v1;
  private long v2;
  private long v3;

  private SipHash(long key0, long key1) {
    v0 = key0 ^ 0x736f6d6570736575L;
    v1 = key1 ^ 0x646f72616e646f6dL;
    v2 = key0 ^ 0x6c7967656e657261L;
    v3 = key1 ^ 0x7465646279746573L;
  }

  /** The hash of a range of bytes. */
  static long hash(long key0, long key1, byte[] bytes, int from, int to) {
    SipHash state = new SipHash(key0, key1);
    int at = from;
    for (; to - at >= Long.BYTES; at += Long.BYTES) {
      state.word((long) CanonicalText.LITTLE_ENDIAN.get(bytes, at));
    }
    long last = (long) (to - from) << 56;
    for (int i = 0; at + i < to; i++) {
      last |= (bytes[at + i] & 0xFFL) << (8 * i);
    }
    state.word(last);
    return state.end();
  }

  private void word(long word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }

  private long end() {
    v2 ^= 0xFF;
    for (int i = 0; i < 4; i++) {
      round();
    }
    return v0 ^ v1 ^ v2 ^ v3;
  }

  private void round() {
    v0 += v1;
    v1 = Long.rotateLeft(v1, 13) ^ v0;
    v0 = Long.rotateLeft(v0, 32);
    v2 += v3;
    v3 = Long.rotateLeft(v3, 16) ^ v2;
    v0 += v3;
    v3 = Long.rotateLeft(v3, 21) ^ v0;
    v2 += v1;
    v1 = Long.rotateLeft(v1, 17) ^ v2;
    v2 = Long.rotateLeft(v2, 32);
  }
}
