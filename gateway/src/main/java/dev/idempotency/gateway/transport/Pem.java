package dev.idempotency.gateway.transport;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Files in PEM (RFC 7468). No message shows what is in them. */
final class Pem {

  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");

  private Pem() {}

  /** What stands between two lines of dashes. */
  record Block(String label, byte[] der) {}

  static byte[] read(Path file) throws TlsFileException {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new TlsFileException(file + ": no such file", e);
    } catch (IOException e) {
      throw new TlsFileException(
          file + ": can't be read (" + e.getClass().getSimpleName() + ")", e);
    }
  }

  static List<Block> blocks(Path file, byte[] content) throws TlsFileException {
    List<Block> blocks = new ArrayList<>();
    Matcher matcher = BLOCK.matcher(new String(content, StandardCharsets.ISO_8859_1));
    while (matcher.find()) {
      blocks.add(new Block(matcher.group(1), decode(file, matcher.group(2))));
    }
    return blocks;
  }

  private static byte[] decode(Path file, String text) throws TlsFileException {
    if (text.contains("Proc-Type:")) {
      throw PrivateKeys.encrypted(file);
    }
    try {
      return Base64.getMimeDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new TlsFileException(file + ": not valid PEM (the Base64 text is damaged)", e);
    }
  }

  /** One or more certificates, in the order of the file. */
  static List<X509Certificate> certificates(Path file, byte[] content) throws TlsFileException {
    List<X509Certificate> certificates = new ArrayList<>();
    for (Block block : blocks(file, content)) {
      if (block.label().endsWith("CERTIFICATE")) {
        certificates.add(certificate(file, block.der()));
      }
    }
    if (certificates.isEmpty()) {
      throw new TlsFileException(
          file + ": no certificate in it (expected: PEM with -----BEGIN CERTIFICATE-----)");
    }
    return certificates;
  }

  private static X509Certificate certificate(Path file, byte[] der) throws TlsFileException {
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      return (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der));
    } catch (CertificateException e) {
      throw new TlsFileException(file + ": a certificate in it is damaged", e);
    }
  }
}
