package dev.idempotency.gateway.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The scripts, named by their hash so that a command carries 40 bytes instead of the text. */
@SuppressWarnings("ImmutableEnumChecker") // the arrays are shared on purpose and never written
enum Script {
  RESERVE("reserve"),
  TAKE_OVER("take_over"),
  RENEW("renew"),
  SETTLE("settle"),
  RELEASE("release"),
  FIND("find"),
  PROBE("probe"),
  PUT_PIECE("put_piece"),
  GET_PIECE("get_piece"),
  DROP_PIECES("drop_pieces"),
  EPOCH("epoch"),
  LIST_OPEN("list_open"),
  COUNT_OPEN("count_open"),
  FORGET("forget"),
  CLAIM_PROBE("claim_probe"),
  RESOLVE("resolve"),
  HISTORY("history");

  private final byte[] text;
  private final byte[] digest;

  Script(String name) {
    this.text = load(name + ".lua");
    this.digest = sha1(text);
  }

  /** The script itself, for EVAL. */
  byte[] text() {
    return text;
  }

  /** Its SHA-1 in lower-case hexadecimal, for EVALSHA. */
  byte[] digest() {
    return digest;
  }

  private static byte[] load(String file) {
    try (InputStream in = Script.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is missing beside " + Script.class.getName());
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] sha1(byte[] text) {
    try {
      byte[] sum = MessageDigest.getInstance("SHA-1").digest(text);
      return HexFormat.of().formatHex(sum).getBytes(StandardCharsets.US_ASCII);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
