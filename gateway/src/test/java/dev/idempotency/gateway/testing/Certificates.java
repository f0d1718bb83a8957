package dev.idempotency.gateway.testing;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.UnaryOperator;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;

/** An authority and what it signs, made for one test. */
public final class Certificates {

  private final X509Bundle authority;

  private Certificates(X509Bundle authority) {
    this.authority = authority;
  }

  /** A new authority. */
  public static Certificates authority(String name) {
    return orFail(
        () ->
            new Certificates(
                new CertificateBuilder()
                    .ecp256()
                    .subject("CN=" + name)
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned()));
  }

  public X509Bundle bundle() {
    return authority;
  }

  /** A certificate for 127.0.0.1 and localhost. */
  public X509Bundle server() {
    return issue(
        it -> it.subject("CN=gw.test").addSanIpAddress("127.0.0.1").addSanDnsName("localhost"));
  }

  public X509Bundle client(String subject) {
    return issue(it -> it.subject(subject));
  }

  public X509Bundle expired() {
    Instant past = Instant.now().minus(30, ChronoUnit.DAYS);
    return issue(
        it ->
            it.subject("CN=gw.test")
                .addSanIpAddress("127.0.0.1")
                .notBefore(past.minus(30, ChronoUnit.DAYS))
                .notAfter(past));
  }

  public X509Bundle issue(UnaryOperator<CertificateBuilder> wishes) {
    return orFail(() -> wishes.apply(new CertificateBuilder().ecp256()).buildIssuedBy(authority));
  }

  public static X509Bundle selfSigned() {
    return orFail(
        () ->
            new CertificateBuilder()
                .ecp256()
                .subject("CN=gw.test")
                .addSanIpAddress("127.0.0.1")
                .setIsCertificateAuthority(true)
                .buildSelfSigned());
  }

  /** One side of a connection: it shows the bundle, if any, and trusts this authority. */
  public SSLContext context(X509Bundle shown) {
    return orFail(
        () -> {
          SSLContext context = SSLContext.getInstance("TLS");
          KeyManager[] keys = shown == null ? null : new KeyManager[] {new Insistent(shown)};
          TrustManager[] trusted = {authority.toTrustManager()};
          context.init(keys, trusted, null);
          return context;
        });
  }

  /** Writes PEM, all of it at once. */
  public static Path write(Path file, String pem) {
    try {
      Path whole = Files.writeString(file.resolveSibling(file.getFileName() + ".new"), pem);
      return Files.move(
          whole, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Shows its certificate even to those who asked for one of another authority. */
  private static final class Insistent extends X509ExtendedKeyManager {
    private static final String ALIAS = "own";
    private final X509Bundle shown;

    Insistent(X509Bundle shown) {
      this.shown = shown;
    }

    @Override
    public String[] getClientAliases(String type, Principal[] issuers) {
      return new String[] {ALIAS};
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
      return ALIAS;
    }

    @Override
    public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
      return ALIAS;
    }

    @Override
    public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
      return ALIAS;
    }

    @Override
    public String[] getServerAliases(String type, Principal[] issuers) {
      return new String[] {ALIAS};
    }

    @Override
    public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
      return type.startsWith("EC") ? ALIAS : null;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return shown.getCertificatePath();
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return shown.getKeyPair().getPrivate();
    }
  }

  private interface Making<T> {
    T make() throws Exception;
  }

  private static <T> T orFail(Making<T> making) {
    try {
      return making.make();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
