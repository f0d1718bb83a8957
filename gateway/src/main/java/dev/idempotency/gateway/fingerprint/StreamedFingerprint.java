package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.security.MessageDigest;
import javax.crypto.Mac;

/** A fingerprint that takes the body as it comes, after the rest of the request. */
final class StreamedFingerprint implements Fingerprinter.Running {

  /** What the network edges read at once, and more. */
  private static final int SCRATCH = 64 << 10;

  private static final ThreadLocal<byte[]> BYTES = ThreadLocal.withInitial(() -> new byte[SCRATCH]);

  private final Hash hash;

  StreamedFingerprint(Hash hash) {
    this.hash = hash;
  }

  @Override
  public void add(Chunk chunk) {
    int length = chunk.length();
    byte[] bytes = length <= SCRATCH ? BYTES.get() : new byte[length];
    chunk.copyTo(bytes, 0);
    hash.update(bytes, length);
  }

  @Override
  public Fingerprints end() {
    return Fingerprints.only(new Fingerprint(RequestFingerprinter.VERSION, hash.end()));
  }

  /** The two algorithms under one roof; Java has none. */
  sealed interface Hash {

    void update(byte[] bytes, int length);

    byte[] end();

    /** SHA-256. */
    record Plain(MessageDigest digest) implements Hash {
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
    record Keyed(Mac mac) implements Hash {
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
}
