package dev.idempotency.gateway.store.redis;

import io.netty.handler.ssl.SslContextBuilder;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What TLS to Redis is made of; the same for servers and sentinels.
 *
 * @param authorities those that certificates of Redis are verified against; null: the JVM's
 * @param chain the gateway's own certificate and those of intermediate authorities; empty: none
 * @param key the private key of the first certificate; null where there is none
 */
public record RedisTls(
    @Nullable List<X509Certificate> authorities,
    List<X509Certificate> chain,
    @Nullable PrivateKey key) {

  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  /** Checks that certificate and key come together. */
  public RedisTls {
    authorities = authorities == null ? null : List.copyOf(authorities);
    chain = List.copyOf(chain);
    if (chain.isEmpty() != (key == null)) {
      throw new IllegalArgumentException("certificate without key, or key without certificate");
    }
  }

  void applyTo(SslContextBuilder builder) {
    builder.protocols(PROTOCOLS);
    if (authorities != null) {
      builder.trustManager(authorities);
    }
    if (key != null) {
      builder.keyManager(key, chain);
    }
  }

  /** Without what is in it. */
  @Override
  public String toString() {
    return "RedisTls[" + (authorities == null ? "" : "ca ") + (key == null ? "" : "client") + "]";
  }
}
