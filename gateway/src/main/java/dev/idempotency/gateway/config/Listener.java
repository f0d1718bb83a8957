package dev.idempotency.gateway.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One address that clients connect to.
 *
 * @param address where to listen; port 0 lets the system choose
 * @param http2 whether HTTP/2 is spoken: chosen by ALPN under TLS, by prior knowledge without
 * @param tls how TLS is spoken; null for a clear listener
 */
public record Listener(HostAndPort address, boolean http2, @Nullable Tls tls) {

  /**
   * How clients are spoken to under TLS. The files could be read when the configuration was; what
   * they hold has not been looked at.
   *
   * @param certificate PEM file of the gateway's certificate and its chain
   * @param key PEM file of the certificate's private key
   * @param clientAuthorities PEM file of the authorities that sign clients' certificates; null
   *     where clients show none
   * @param clientCertificate whether a client must show one; of no meaning without authorities
   * @param protocols the versions that are spoken; one or more of TLSv1.3 and TLSv1.2
   * @param reload how often the files are looked at; 100 ms to 24 h
   */
  public record Tls(
      Path certificate,
      Path key,
      @Nullable Path clientAuthorities,
      Demand clientCertificate,
      List<String> protocols,
      Duration reload) {

    public Tls {
      protocols = List.copyOf(protocols);
    }

    /** Whether every client is one that the authorities know. */
    public boolean demandsCertificate() {
      return clientAuthorities != null && clientCertificate == Demand.REQUIRED;
    }
  }

  /** Whether something must be shown. */
  public enum Demand {
    REQUIRED,
    OPTIONAL
  }

  /** Without TLS, HTTP/1 only. */
  static Listener clear(HostAndPort address) {
    return new Listener(address, false, null);
  }

  boolean knowsClients() {
    return tls != null && tls.clientAuthorities() != null;
  }
}
