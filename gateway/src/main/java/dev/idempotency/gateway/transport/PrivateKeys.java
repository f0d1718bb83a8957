package dev.idempotency.gateway.transport;

import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Private keys from PEM: PKCS#8 (RFC 5958), PKCS#1 (RFC 8017 A.1.2) and SEC 1 (RFC 5915). The JDK
 * reads PKCS#8 only; the older two are put into its envelope.
 */
final class PrivateKeys {

  private static final byte[] VERSION_0 = {2, 1, 0};

  /** AlgorithmIdentifier of rsaEncryption, 1.2.840.113549.1.1.1. */
  private static final byte[] RSA = {
    0x30, 0x0d, 0x06, 0x09, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 1, 1, 1, 5, 0
  };

  /** The object identifier of id-ecPublicKey, 1.2.840.10045.2.1. */
  private static final byte[] EC = {
    0x06, 0x07, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x02, 0x01
  };

  private static final int SEQUENCE = 0x30;
  private static final int OCTETS = 0x04;
  private static final int PARAMETERS = 0xa0;

  private PrivateKeys() {}

  static PrivateKey read(Path file, byte[] content) throws TlsFileException {
    for (Pem.Block block : Pem.blocks(file, content)) {
      byte[] pkcs8 = pkcs8(file, block);
      if (pkcs8 != null) {
        return parse(file, pkcs8);
      }
    }
    throw new TlsFileException(
        file + ": no private key in it (expected: PEM with -----BEGIN PRIVATE KEY-----)");
  }

  /** Null for what is no key, such as the curve's parameters or a certificate. */
  private static byte @Nullable [] pkcs8(Path file, Pem.Block block) throws TlsFileException {
    byte[] der = block.der();
    return switch (block.label()) {
      case "PRIVATE KEY" -> der;
      case "RSA PRIVATE KEY" -> envelope(RSA, der);
      case "EC PRIVATE KEY" -> envelope(der(SEQUENCE, EC, curve(file, der)), der);
      case "ENCRYPTED PRIVATE KEY" -> throw encrypted(file);
      default -> null;
    };
  }

  static TlsFileException encrypted(Path file) {
    return new TlsFileException(
        file
            + ": the private key has a password (expected: one without; write it anew with"
            + " `openssl pkcs8 -topk8 -nocrypt`)");
  }

  private static PrivateKey parse(Path file, byte[] pkcs8) throws TlsFileException {
    PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(pkcs8);
    for (String algorithm : List.of("EC", "RSA", "EdDSA", "RSASSA-PSS")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (GeneralSecurityException e) {
        // Another kind, or damaged.
      }
    }
    throw new TlsFileException(
        file + ": the private key can't be read (expected: an RSA, EC or Ed25519 key)");
  }

  // ---- the envelope

  private static byte[] envelope(byte[] algorithm, byte[] key) {
    return der(SEQUENCE, VERSION_0, algorithm, der(OCTETS, key));
  }

  /** One DER value (X.690 §8.1): tag, length, contents. */
  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream contents = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      contents.writeBytes(part);
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.write(tag);
    int length = contents.size();
    if (length < 0x80) {
      whole.write(length);
    } else if (length < 0x100) {
      whole.write(0x81);
      whole.write(length);
    } else {
      whole.write(0x82);
      whole.write(length >> 8);
      whole.write(length);
    }
    whole.writeBytes(contents.toByteArray());
    return whole.toByteArray();
  }

  /** ECPrivateKey is a sequence of version, key, [0] curve and [1] public key (RFC 5915 §3). */
  private static byte[] curve(Path file, byte[] sec1) throws TlsFileException {
    try {
      int at = 1 + lengthBytes(sec1, 1);
      while (at < sec1.length) {
        int start = at + 1 + lengthBytes(sec1, at + 1);
        int end = start + length(sec1, at + 1);
        if ((sec1[at] & 0xff) == PARAMETERS) {
          return java.util.Arrays.copyOfRange(sec1, start, end);
        }
        at = end;
      }
    } catch (ArrayIndexOutOfBoundsException | IllegalArgumentException e) {
      throw new TlsFileException(file + ": the private key is damaged", e);
    }
    throw new TlsFileException(file + ": the private key names no curve (expected: PKCS#8)");
  }

  private static int lengthBytes(byte[] der, int at) {
    return der[at] >= 0 ? 1 : 1 + (der[at] & 0x7f);
  }

  private static int length(byte[] der, int at) {
    if (der[at] >= 0) {
      return der[at];
    }
    int length = 0;
    for (int i = 1; i < lengthBytes(der, at); i++) {
      length = (length << 8) | (der[at + i] & 0xff);
    }
    return length;
  }

  // ---- the pair

  /** Whether both are of one pair: what the one signs the other verifies. */
  static boolean isPair(PrivateKey key, PublicKey certified) {
    String algorithm = signatureOf(key.getAlgorithm());
    if (algorithm == null) {
      return true;
    }
    byte[] probe = {'p', 'a', 'i', 'r'};
    try {
      Signature signer = Signature.getInstance(algorithm);
      signer.initSign(key);
      signer.update(probe);
      byte[] signed = signer.sign();
      Signature verifier = Signature.getInstance(algorithm);
      verifier.initVerify(certified);
      verifier.update(probe);
      return verifier.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  /** Null where the handshake has to find out. */
  private static @Nullable String signatureOf(String algorithm) {
    return switch (algorithm) {
      case "RSA" -> "SHA256withRSA";
      case "EC" -> "SHA256withECDSA";
      case "EdDSA" -> "EdDSA";
      default -> null;
    };
  }
}
