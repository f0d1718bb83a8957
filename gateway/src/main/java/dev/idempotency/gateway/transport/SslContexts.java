package dev.idempotency.gateway.transport;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;

/**
 * How TLS is spoken here: by BoringSSL where its native library loads, else by the JDK; versions
 * 1.2 and 1.3, with forward secrecy and authenticated encryption only, which is also all that
 * HTTP/2 allows (RFC 9113 §9.2.2).
 *
 * <p>This class and what it needs are loaded only where TLS is configured.
 */
public final class SslContexts {

  /** The system property that demands "jdk" where BoringSSL is not wanted. */
  public static final String PROVIDER_PROPERTY = "dev.idempotency.gateway.tls";

  private static final List<String> CIPHERS =
      List.of(
          "TLS_AES_128_GCM_SHA256",
          "TLS_AES_256_GCM_SHA384",
          "TLS_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

  /** The versions that are spoken. */
  public static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

  private static final long SESSION_SECONDS = 3600;
  private static final long SESSIONS = 20_000;

  /**
   * The system property that has the JDK refuse a renegotiation that the client begins, as
   * BoringSSL does anyway: it costs the server more than the client, and after it the verified
   * subject might be another one. It is read once, when TLS is first used by anybody.
   */
  public static final String NO_RENEGOTIATION = "jdk.tls.rejectClientInitiatedRenegotiation";

  private SslContexts() {}

  /** Who is to speak. */
  public static SslProvider provider() {
    boolean jdk = "jdk".equalsIgnoreCase(System.getProperty(PROVIDER_PROPERTY));
    return !jdk && OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK;
  }

  /** Who speaks, for the log. */
  public static String describe(SslProvider provider) {
    return provider == SslProvider.JDK
        ? "the JDK " + Runtime.version()
        : OpenSsl.versionString() + " (native)";
  }

  /** For connections of clients. */
  public static SslContext server(
      SslProvider provider,
      TlsFiles.Contents contents,
      List<String> protocols,
      ClientAuth clients,
      boolean http2)
      throws SSLException {
    SslContextBuilder builder =
        common(
                SslContextBuilder.forServer(contents.key(), contents.chain()),
                provider,
                protocols,
                http2)
            .clientAuth(clients);
    if (contents.authorities() != null) {
      builder.trustManager(contents.authorities());
    }
    return builder.build();
  }

  /** For connections to an upstream, whose certificate and name are always verified. */
  public static SslContext client(SslProvider provider, TlsFiles.Contents contents, boolean http2)
      throws SSLException {
    SslContextBuilder builder =
        common(SslContextBuilder.forClient(), provider, PROTOCOLS, http2)
            .endpointIdentificationAlgorithm("HTTPS");
    if (contents.authorities() == null) {
      builder.trustManager((TrustManagerFactory) null);
    } else {
      builder.trustManager(contents.authorities());
    }
    if (contents.key() != null) {
      builder.keyManager(contents.key(), contents.chain());
    }
    return builder.build();
  }

  private static SslContextBuilder common(
      SslContextBuilder builder, SslProvider provider, List<String> protocols, boolean http2) {
    return builder
        .sslProvider(provider)
        .protocols(protocols)
        .ciphers(CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
        .sessionTimeout(SESSION_SECONDS)
        .sessionCacheSize(SESSIONS)
        .applicationProtocolConfig(
            new ApplicationProtocolConfig(
                ApplicationProtocolConfig.Protocol.ALPN,
                ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                applicationProtocols(http2)));
  }

  /** What ALPN offers or accepts, the best first (RFC 7301). */
  public static List<String> applicationProtocols(boolean http2) {
    return http2
        ? List.of(ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1)
        : List.of(ApplicationProtocolNames.HTTP_1_1);
  }
}
