package dev.idempotency.gateway.store.envelope;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * AES-256 in Galois/Counter Mode (NIST SP 800-38D) with random nonces of 96 bits and tags of 128.
 *
 * <p>Threading: safe from any thread; each has a cipher of its own.
 */
final class Gcm {

  /** Bytes of a key. */
  static final int KEY = 32;

  /** Bytes that a sealed text is longer than the plain one: nonce and tag. */
  static final int OVERHEAD = 28;

  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;

  /**
   * Long texts are given to the cipher in slices: the JVM puts the processor's own instructions
   * into code that is called often, and into one long call late or never, which is 10 times slower.
   */
  private static final int SLICE = 4096;

  private static final ThreadLocal<Cipher> CIPHER = ThreadLocal.withInitial(Gcm::cipher);
  private static final ThreadLocal<SecureRandom> RANDOM =
      ThreadLocal.withInitial(SecureRandom::new);

  private Gcm() {}

  private static Cipher cipher() {
    try {
      return Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has AES/GCM/NoPadding", e);
    }
  }

  static SecretKey key(byte[] bytes) {
    return new SecretKeySpec(bytes, "AES");
  }

  /** The bytes of a key that nobody had before. */
  static byte[] random(int length) {
    byte[] bytes = new byte[length];
    RANDOM.get().nextBytes(bytes);
    return bytes;
  }

  /**
   * Writes nonce, ciphertext and tag of two texts, one behind the other.
   *
   * @param bound what is authenticated along with them
   * @param out has {@link #OVERHEAD} more bytes than the texts, from {@code at} on
   */
  static void seal(SecretKey key, byte[] bound, byte[] first, byte[] second, byte[] out, int at) {
    try {
      byte[] nonce = random(NONCE);
      System.arraycopy(nonce, 0, out, at, NONCE);
      Cipher cipher = CIPHER.get();
      cipher.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(TAG_BITS, nonce));
      cipher.updateAAD(bound);
      int to = at + NONCE;
      to += cipher.update(first, 0, first.length, out, to);
      int from = 0;
      for (; second.length - from > SLICE; from += SLICE) {
        to += cipher.update(second, from, SLICE, out, to);
      }
      cipher.doFinal(second, from, second.length - from, out, to);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a key and a nonce of the right length", e);
    }
  }

  /**
   * The plain text.
   *
   * @throws UnreadableException if a byte of it, or of what it is bound to, is another
   */
  static byte[] open(SecretKey key, byte[] bound, byte[] in, int from, int to)
      throws UnreadableException {
    if (to - from < OVERHEAD) {
      throw new UnreadableException("it is cut off");
    }
    try {
      Cipher cipher = CIPHER.get();
      cipher.init(Cipher.DECRYPT_MODE, key, new GCMParameterSpec(TAG_BITS, in, from, NONCE));
      cipher.updateAAD(bound);
      return cipher.doFinal(in, from + NONCE, to - from - NONCE);
    } catch (AEADBadTagException e) {
      throw new UnreadableException("it was changed, or written for another operation");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a key and a nonce of the right length", e);
    }
  }
}
