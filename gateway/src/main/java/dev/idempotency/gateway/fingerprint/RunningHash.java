package dev.idempotency.gateway.fingerprint;

import java.security.MessageDigest;
import javax.crypto.Mac;

/** A hash in the making: two algorithms under one roof, as Java has none. */
sealed interface RunningHash {

  void update(byte[] bytes, int length);

  byte[] end();

  /** SHA-256. */
  record Plain(MessageDigest digest) implements RunningHash {
    @Override
    public void update(byte[] bytes, int length) {
      digest.update(bytes, 0, length);
    }

    @Override
    public byte[] end() {
      return digest.digest();
    }
  }

  /** HMAC-SHA-256. */
  record Keyed(Mac mac) implements RunningHash {
    @Override
    public void update(byte[] bytes, int length) {
      mac.update(bytes, 0, length);
    }

    @Override
    public byte[] end() {
      return mac.doFinal();
    }
  }
}
