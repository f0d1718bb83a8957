package dev.idempotency.gateway.operations;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** Tells by their tokens what operators may do (RFC 6750). */
final class OperatorRoles {

  /** What somebody may do. */
  enum Role {
    NOTHING,
    READ,
    WRITE
  }

  private static final String SCHEME = "Bearer ";

  private final byte @Nullable [] read;
  private final byte @Nullable [] write;

  OperatorRoles(OperatorOptions options) {
    this.read = bytes(options.read());
    this.write = bytes(options.write());
  }

  private static byte @Nullable [] bytes(@Nullable String token) {
    return token == null ? null : token.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * @param authorization the field's value, one character for each octet; null where there is none
   */
  Role of(@Nullable String authorization) {
    if (authorization == null
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return Role.NOTHING;
    }
    byte[] shown =
        authorization.substring(SCHEME.length()).strip().getBytes(StandardCharsets.ISO_8859_1);
    // Both are compared, whatever comes of the first: time tells nothing of either.
    boolean reads = isSame(read, shown);
    boolean writes = isSame(write, shown);
    return writes ? Role.WRITE : reads ? Role.READ : Role.NOTHING;
  }

  private static boolean isSame(byte @Nullable [] token, byte[] shown) {
    return token != null && MessageDigest.isEqual(token, shown);
  }
}
