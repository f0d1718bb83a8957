package dev.idempotency.gateway.idempotency;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The name of one operation: a hash of its scope and its key. Equal keys in two scopes are two
 * operations; no byte of the client is in the name.
 *
 * <p>Every part is hashed behind its own length, so that no two lists of parts run together.
 */
public final class OperationId {

  /** Length in bytes. */
  public static final int LENGTH = 32;

  /** By a key that was sent. */
  private static final byte FORMAT = 1;

  /** By what the request asks for; another first byte, so that it is never the name by a key. */
  private static final byte DERIVED = 2;

  private static final ThreadLocal<MessageDigest> SHA_256 =
      ThreadLocal.withInitial(OperationId::sha256);

  private final byte[] bytes;

  private OperationId(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * The operation of a caller.
   *
   * @param operation the route's operation name
   * @param identity the parts of the tenant's identity, in the order of the route's {@code scope};
   *     null stands for a part that is not there, which differs from an empty one
   * @param key the client's key
   */
  public static OperationId of(
      String operation, List<@Nullable String> identity, IdempotencyKey key) {
    MessageDigest digest = begin(FORMAT, operation, identity);
    update(digest, key.value());
    return new OperationId(digest.digest());
  }

  /**
   * The operation of a caller that sent no key: equal requests of the same caller are the same.
   *
   * @param operation the route's operation name
   * @param identity as for a key that was sent; should say who it is, or callers share answers
   * @param request what the request asks for, not open. Another rule or secret makes another name
   */
  public static OperationId derived(
      String operation, List<@Nullable String> identity, Fingerprint request) {
    if (request.isOpen()) {
      throw new IllegalArgumentException("the request is not known yet");
    }
    MessageDigest digest = begin(DERIVED, operation, identity);
    updateInt(digest, request.version());
    digest.update(request.hash());
    return new OperationId(digest.digest());
  }

  private static MessageDigest begin(
      byte format, String operation, List<@Nullable String> identity) {
    MessageDigest digest = SHA_256.get();
    digest.reset();
    digest.update(format);
    update(digest, operation);
    updateInt(digest, identity.size());
    for (int i = 0; i < identity.size(); i++) {
      update(digest, identity.get(i));
    }
    return digest;
  }

  /** From the {@link #LENGTH} bytes of an earlier one. */
  public static OperationId of(byte[] bytes) {
    if (bytes.length != LENGTH) {
      throw new IllegalArgumentException(bytes.length + " bytes, expected: " + LENGTH);
    }
    return new OperationId(bytes.clone());
  }

  private static void update(MessageDigest digest, @Nullable String part) {
    if (part == null) {
      updateInt(digest, -1);
      return;
    }
    byte[] utf8 = part.getBytes(StandardCharsets.UTF_8);
    updateInt(digest, utf8.length);
    digest.update(utf8);
  }

  private static void updateInt(MessageDigest digest, int value) {
    digest.update((byte) (value >>> 24));
    digest.update((byte) (value >>> 16));
    digest.update((byte) (value >>> 8));
    digest.update((byte) value);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** A copy of the bytes. */
  public byte[] toByteArray() {
    return bytes.clone();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof OperationId that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    // The bytes are a hash already.
    return bytes[0] << 24 | (bytes[1] & 0xff) << 16 | (bytes[2] & 0xff) << 8 | (bytes[3] & 0xff);
  }

  /** Lower-case hexadecimal. */
  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }
}
