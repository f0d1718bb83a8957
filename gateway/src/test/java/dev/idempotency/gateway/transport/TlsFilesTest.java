package dev.idempotency.gateway.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.testing.Certificates;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What PEM files may hold, and what is said of those that are of no use. */
class TlsFilesTest {

  private static final Certificates AUTHORITY = Certificates.authority("Test CA");

  private @TempDir Path folder;

  private Path file(String name, String content) {
    return Certificates.write(folder.resolve(name), content);
  }

  private static String pem(String label, byte[] der) {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return "-----BEGIN " + label + "-----\n" + text + "\n-----END " + label + "-----\n";
  }

  private TlsFiles.Contents parse(X509Bundle bundle, String key) throws TlsFileException {
    TlsFiles files =
        new TlsFiles(file("c.pem", bundle.getCertificatePathPEM()), file("c.key", key), null);
    return files.parse(files.read());
  }

  /** The contents of the last octet string of a PKCS#8 envelope: the older form of the key. */
  private static byte[] inner(PrivateKey key, int length) {
    byte[] pkcs8 = key.getEncoded();
    return Arrays.copyOfRange(pkcs8, pkcs8.length - length, pkcs8.length);
  }

  @Test
  void pkcs8IsRead() throws Exception {
    X509Bundle bundle = AUTHORITY.server();
    assertThat(parse(bundle, bundle.getPrivateKeyPEM()).key())
        .isEqualTo(bundle.getKeyPair().getPrivate());
  }

  @Test
  void pkcs1IsRead() throws Exception {
    X509Bundle bundle = AUTHORITY.issue(it -> it.rsa2048().subject("CN=rsa"));
    byte[] pkcs8 = bundle.getKeyPair().getPrivate().getEncoded();
    // SEQUENCE, version, algorithm, and the head of an octet string of more than 255 bytes.
    byte[] pkcs1 = Arrays.copyOfRange(pkcs8, 4 + 3 + 15 + 4, pkcs8.length);
    assertThat(parse(bundle, pem("RSA PRIVATE KEY", pkcs1)).key())
        .isEqualTo(bundle.getKeyPair().getPrivate());
  }

  @Test
  void sec1IsRead() throws Exception {
    X509Bundle bundle = AUTHORITY.server();
    byte[] secret = inner(bundle.getKeyPair().getPrivate(), 32);
    byte[] sec1 = new byte[51];
    byte[] head = {0x30, 49, 2, 1, 1, 4, 32};
    // [0] prime256v1
    byte[] curve = {(byte) 0xa0, 10, 6, 8, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 3, 1, 7};
    System.arraycopy(head, 0, sec1, 0, 7);
    System.arraycopy(secret, 0, sec1, 7, 32);
    System.arraycopy(curve, 0, sec1, 39, 12);
    ECPrivateKey read = (ECPrivateKey) parse(bundle, pem("EC PRIVATE KEY", sec1)).key();
    assertThat(read.getS()).isEqualTo(((ECPrivateKey) bundle.getKeyPair().getPrivate()).getS());
  }

  @Test
  void aKeyOfAnotherCertificateIsNamed() {
    assertThatThrownBy(() -> parse(AUTHORITY.server(), AUTHORITY.server().getPrivateKeyPEM()))
        .isInstanceOf(TlsFileException.class)
        .hasMessageContaining("c.key: not the key of the first certificate in")
        .hasMessageContaining("c.pem");
  }

  @Test
  void aKeyWithAPasswordIsNamedWithTheWayOut() {
    String key = pem("ENCRYPTED PRIVATE KEY", new byte[] {1, 2, 3});
    assertThatThrownBy(() -> parse(AUTHORITY.server(), key))
        .hasMessageContaining("c.key: the private key has a password")
        .hasMessageContaining("openssl pkcs8");
  }

  @Test
  void damagedFilesAreNamedAndNotShown() {
    String secret = "c2VjcmV0IHNlY3JldA==";
    for (String label : new String[] {"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"}) {
      String key = "-----BEGIN " + label + "-----\n" + secret + "\n-----END " + label + "-----\n";
      assertThatThrownBy(() -> parse(AUTHORITY.server(), key))
          .isInstanceOf(TlsFileException.class)
          .hasMessageContaining("c.key")
          .message()
          .doesNotContain(secret);
    }
    assertThatThrownBy(() -> parse(AUTHORITY.server(), "nothing"))
        .hasMessageContaining("no private key in it");
  }

  @Test
  void aFileThatIsMissingIsNamed() {
    TlsFiles files = new TlsFiles(folder.resolve("away.pem"), folder.resolve("away.key"), null);
    assertThat(Files.exists(folder.resolve("away.pem"))).isFalse();
    assertThatThrownBy(files::read).hasMessageContaining("away.pem: no such file");
  }
}
