package dev.idempotency.gateway.idempotency;

import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A hash of what a request asks for; tells a retry from a reuse of the key.
 *
 * <p>Two fingerprints are equal when version and hash are; the hash is compared in constant time.
 */
public final class Fingerprint {

  /** Length of the hash in bytes. */
  public static final int LENGTH = 32;

  /**
   * Not known yet: the request's body is still on its way. Equal to itself only; a record that
   * carries it can't tell a retry from a reuse of the key.
   */
  public static final Fingerprint OPEN = new Fingerprint();

  private final int version;
  private final byte[] hash;

  /**
   * @param version the algorithm's version, 1 to 255
   * @param hash {@link #LENGTH} bytes; not copied, not to be changed afterwards
   */
  public Fingerprint(int version, byte[] hash) {
    if (version < 1 || version > 255) {
      throw new IllegalArgumentException("version " + version + ", expected: 1 to 255");
    }
    if (hash.length != LENGTH) {
      throw new IllegalArgumentException(hash.length + " bytes, expected: " + LENGTH);
    }
    this.version = version;
    this.hash = hash;
  }

  private Fingerprint() {
    this.version = 0;
    this.hash = new byte[LENGTH];
  }

  /** Whether this is {@link #OPEN}. */
  public boolean isOpen() {
    return version == 0;
  }

  /** The algorithm's version; 0 for {@link #OPEN}. */
  public int version() {
    return version;
  }

  /** A copy of the hash. */
  public byte[] hash() {
    return hash.clone();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Fingerprint that
        && that.version == version
        && MessageDigest.isEqual(hash, that.hash);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(hash);
  }

  @Override
  public String toString() {
    return isOpen() ? "Fingerprint[open]" : "Fingerprint[version " + version + "]";
  }
}
