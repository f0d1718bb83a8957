package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.StoredOperation;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What operators call the record that they saw: the same key released and begun anew has the same
 * attempt again, and another name. Made of the record's token, but not the token, by which the
 * store knows the owner.
 */
final class HolderName {

  private static final int BYTES = 8;
  private static final Pattern FORM = Pattern.compile("[0-9a-f]{16}");

  private HolderName() {}

  /** 16 hexadecimal digits; null where the operation is finished. */
  static @Nullable String of(StoredOperation operation) {
    AttemptToken token = operation.holder();
    return token == null ? null : HexFormat.of().formatHex(hash(token.toByteArray()), 0, BYTES);
  }

  static boolean isOne(String text) {
    return FORM.matcher(text).matches();
  }

  private static byte[] hash(byte[] token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
