package dev.idempotency.gateway.fingerprint;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * With what fingerprints are hashed: nothing (SHA-256), or a secret (HMAC-SHA-256).
 *
 * <p>Threading: safe from any thread.
 */
final class HashKey {

  /** No secret. */
  static final HashKey PLAIN = new HashKey(null);

  private static final byte[] MARKS =
      "marks of the parts of a request".getBytes(StandardCharsets.UTF_8);

  private final byte @Nullable [] secret;

  /** Keyed once a thread, because looking an algorithm up costs more than hashing. */
  private final @Nullable ThreadLocal<Mac> macs;

  private final long marks0;
  private final long marks1;

  private HashKey(byte @Nullable [] secret) {
    this.secret = secret;
    this.macs = secret == null ? null : ThreadLocal.withInitial(() -> hmac(secret));
    // The marks get a key of their own, so that they say nothing of the hash either.
    byte[] derived = secret == null ? new byte[2 * Long.BYTES] : hmac(secret).doFinal(MARKS);
    this.marks0 = (long) CanonicalText.LITTLE_ENDIAN.get(derived, 0);
    this.marks1 = (long) CanonicalText.LITTLE_ENDIAN.get(derived, Long.BYTES);
  }

  /**
   * The keys of all fingerprints that are recognised, the one that makes new ones first. Without a
   * secret come those last that were made before there was one: switching secrets on must not
   * refuse retries, and a hash without a secret says no less about what was asked for.
   */
  static List<HashKey> of(List<byte[]> secrets) {
    List<HashKey> keys = new ArrayList<>();
    secrets.forEach(secret -> keys.add(new HashKey(secret.clone())));
    keys.add(PLAIN);
    return List.copyOf(keys);
  }

  /** The hash of two ranges of bytes, one behind the other. */
  byte[] hash(MessageDigest digest, byte[] head, int headLength, byte[] body, int bodyLength) {
    if (macs == null) {
      digest.reset();
      digest.update(head, 0, headLength);
      digest.update(body, 0, bodyLength);
      return digest.digest();
    }
    Mac mac = macs.get();
    mac.reset();
    mac.update(head, 0, headLength);
    mac.update(body, 0, bodyLength);
    return mac.doFinal();
  }

  /** A hash to be fed piece by piece. */
  RunningHash begin() {
    return secret == null ? new RunningHash.Plain(sha256()) : new RunningHash.Keyed(hmac(secret));
  }

  /** The mark of a part of a request, 16 bits. */
  long mark(byte[] bytes, int from, int to) {
    return SipHash.hash(marks0, marks1, bytes, from, to) & 0xFFFF;
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static Mac hmac(byte[] secret) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has HmacSHA256", e);
    }
  }
}
