package dev.idempotency.gateway.transport;

import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files of one side.
 *
 * @param certificate its certificate, followed by those of intermediate authorities; null: none
 * @param privateKey the certificate's private key; null with it
 * @param authorities those that the other side's certificate is verified against; null: the JVM's,
 *     or none where no certificate is asked for
 */
public record TlsFiles(
    @Nullable Path certificate, @Nullable Path privateKey, @Nullable Path authorities) {

  /** What was in the files. */
  public record Contents(
      List<X509Certificate> chain,
      @Nullable PrivateKey key,
      @Nullable List<X509Certificate> authorities) {}

  /** The files' bytes, read at one time, so that what is compared is what is used. */
  record Bytes(
      byte @Nullable [] certificate, byte @Nullable [] key, byte @Nullable [] authorities) {

    /** Equal for equal files. */
    byte[] digest() {
      try {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (byte[] part : new byte[] @Nullable [] {certificate, key, authorities}) {
          digest.update((byte) (part == null ? 0 : 1));
          if (part != null) {
            digest.update(MessageDigest.getInstance("SHA-256").digest(part));
          }
        }
        return digest.digest();
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JVM has SHA-256", e);
      }
    }
  }

  /**
   * Reads them once, for those who do not follow their changes.
   *
   * @throws TlsFileException naming the file that is of no use
   */
  public Contents load() throws TlsFileException {
    return parse(read());
  }

  Bytes read() throws TlsFileException {
    return new Bytes(read(certificate), read(privateKey), read(authorities));
  }

  private static byte @Nullable [] read(@Nullable Path file) throws TlsFileException {
    return file == null ? null : Pem.read(file);
  }

  Contents parse(Bytes bytes) throws TlsFileException {
    List<X509Certificate> trusted =
        authorities == null || bytes.authorities() == null
            ? null
            : Pem.certificates(authorities, bytes.authorities());
    if (certificate == null || bytes.certificate() == null) {
      return new Contents(List.of(), null, trusted);
    }
    List<X509Certificate> chain = Pem.certificates(certificate, bytes.certificate());
    if (privateKey == null || bytes.key() == null) {
      throw new TlsFileException(certificate + ": without a private key (expected: both)");
    }
    PrivateKey key = PrivateKeys.read(privateKey, bytes.key());
    if (!PrivateKeys.isPair(key, chain.get(0).getPublicKey())) {
      throw new TlsFileException(
          privateKey + ": not the key of the first certificate in " + certificate);
    }
    return new Contents(chain, key, trusted);
  }
}
