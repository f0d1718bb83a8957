package dev.idempotency.gateway.idempotency;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A hash of what a request asks for; tells a retry from a reuse of the key.
 *
 * <p>Two fingerprints are equal when version and hash are; the hash is compared in constant time.
 * Beside the hash it may have a mark of 16 bits for each part of the request, which serves to name
 * the parts that differ and decides nothing.
 */
public final class Fingerprint {

  /** What a request consists of, in the order of the marks. */
  public enum Part {
    /** Method and path. */
    TARGET(48),
    QUERY(32),
    /** Media type, content coding and the headers that the route lists. */
    HEADERS(16),
    BODY(0);

    private final int shift;

    Part(int shift) {
      this.shift = shift;
    }

    private int of(long marks) {
      return (int) (marks >>> shift) & 0xFFFF;
    }
  }

  /** Length of the hash in bytes. */
  public static final int LENGTH = 32;

  /** The marks of a fingerprint that has none. */
  public static final long NO_MARKS = 0;

  /**
   * Not known yet: the request's body is still on its way. Equal to itself only; a record that
   * carries it can't tell a retry from a reuse of the key.
   */
  public static final Fingerprint OPEN = new Fingerprint();

  private final int version;
  private final byte[] hash;
  private final long marks;

  /** Without marks. */
  public Fingerprint(int version, byte[] hash) {
    this(version, hash, NO_MARKS);
  }

  /**
   * @param version the algorithm's version, 1 to 255
   * @param hash {@link #LENGTH} bytes; not copied, not to be changed afterwards
   * @param marks 16 bits for each {@link Part}, the first one's highest, or {@link #NO_MARKS}
   */
  public Fingerprint(int version, byte[] hash, long marks) {
    if (version < 1 || version > 255) {
      throw new IllegalArgumentException("version " + version + ", expected: 1 to 255");
    }
    if (hash.length != LENGTH) {
      throw new IllegalArgumentException(hash.length + " bytes, expected: " + LENGTH);
    }
    this.version = version;
    this.hash = hash;
    this.marks = marks;
  }

  private Fingerprint() {
    this.version = 0;
    this.hash = new byte[LENGTH];
    this.marks = NO_MARKS;
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

  /** 16 bits for each {@link Part}, the first one's highest, or {@link #NO_MARKS}. */
  public long marks() {
    return marks;
  }

  /**
   * The parts in which another request differs, as far as the marks tell; none where they tell
   * nothing: where one has no marks, or another version or secret made them.
   */
  public Set<Part> differing(Fingerprint other) {
    EnumSet<Part> parts = EnumSet.noneOf(Part.class);
    if (marks == NO_MARKS || other.marks == NO_MARKS || version != other.version) {
      return parts;
    }
    for (Part part : Part.values()) {
      if (part.of(marks) != part.of(other.marks)) {
        parts.add(part);
      }
    }
    // By another secret all marks differ, and nobody can say what does.
    return parts.size() == Part.values().length ? EnumSet.noneOf(Part.class) : parts;
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
