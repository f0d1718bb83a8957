package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.transport.ReloadingTls;
import dev.idempotency.gateway.transport.SslContexts;
import dev.idempotency.gateway.transport.TlsFileException;
import dev.idempotency.gateway.transport.TlsFiles;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.NetUtil;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS to one upstream, for all event loops. Its certificate is always verified: the chain, the
 * validity and the name (RFC 9110 §4.3.4).
 *
 * <p>Threading: safe from any thread.
 */
public final class UpstreamTls implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(UpstreamTls.class);

  private static final Duration RELOAD_INTERVAL = Duration.ofSeconds(10);
  private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final String upstream;
  private final TlsOptions options;
  private final long handshakeMillis;
  private final ReloadingTls contexts;
  private final AtomicLong nextLog = new AtomicLong(System.nanoTime());
  private final AtomicLong failures = new AtomicLong();

  private UpstreamTls(
      String upstream, TlsOptions options, long handshakeMillis, ReloadingTls contexts) {
    this.upstream = upstream;
    this.options = options;
    this.handshakeMillis = handshakeMillis;
    this.contexts = contexts;
  }

  /** Reads the files, on this thread, and again when they change; null for a clear upstream. */
  public static @Nullable UpstreamTls start(UpstreamOptions options) throws TlsFileException {
    return start(options, RELOAD_INTERVAL);
  }

  static @Nullable UpstreamTls start(UpstreamOptions options, Duration reloadInterval)
      throws TlsFileException {
    TlsOptions tls = options.tls();
    if (tls == null) {
      return null;
    }
    SslProvider provider = SslContexts.provider();
    ReloadingTls contexts =
        ReloadingTls.start(
            new TlsFiles(tls.certificate(), tls.privateKey(), tls.authorities()),
            reloadInterval,
            contents -> SslContexts.client(provider, contents, options.http2()),
            new Log(options.name()));
    LOG.info("upstream {}: TLS with {}", options.name(), SslContexts.describe(provider));
    return new UpstreamTls(options.name(), tls, options.connectTimeout().toMillis(), contexts);
  }

  private record Log(String upstream) implements ReloadingTls.Listener {
    @Override
    public void reloaded(@Nullable Instant expires) {
      LOG.info("upstream {}: the TLS files were read again", upstream);
    }

    @Override
    public void refused(String reason) {
      LOG.warn(
          "upstream {}: TLS files changed and are not used, those read before stay in use: {}",
          upstream,
          reason);
    }
  }

  /** For a connection to that address; the certificate must be of its host or the set name. */
  SslHandler handler(UpstreamOptions.Address address, ByteBufAllocator allocator) {
    String set = options.serverName();
    String name = named(set == null ? address.host() : set);
    SslHandler handler = contexts.context().newHandler(allocator, name, address.port());
    handler.setHandshakeTimeoutMillis(Math.max(1, handshakeMillis));
    ask(handler.engine(), name);
    return handler;
  }

  /**
   * By default engines ask for names with a dot only, and services in a cluster often have none.
   */
  private static void ask(SSLEngine engine, String name) {
    if (NetUtil.isValidIpV4Address(name) || NetUtil.isValidIpV6Address(name)) {
      return;
    }
    try {
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setServerNames(List.of(new SNIHostName(name)));
      engine.setSSLParameters(parameters);
    } catch (IllegalArgumentException e) {
      // A name that only private networks know, such as one with an underscore, can't be asked for.
      LOG.debug("upstream host {} can't be sent as a server name", name);
    }
  }

  /** The final dot of a whole domain name is not in certificates (RFC 6066 §3). */
  private static String named(String host) {
    return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
  }

  /** Logs why a handshake failed, one in ten seconds; the client is not told. */
  void failed(UpstreamOptions.Address address, Throwable cause) {
    failures.incrementAndGet();
    long now = System.nanoTime();
    long due = nextLog.get();
    if (now - due >= 0 && nextLog.compareAndSet(due, now + LOG_NANOS)) {
      LOG.warn(
          "upstream {}: no TLS connection to {}:{}, nothing is sent: {} (failures so far: {})",
          upstream,
          address.host(),
          address.port(),
          reason(cause),
          failures);
    }
  }

  private static String reason(Throwable cause) {
    Throwable told = cause;
    for (Throwable at = cause; at != null; at = at.getCause()) {
      if (at instanceof CertificateException) {
        return String.valueOf(at.getMessage());
      }
      told = at;
    }
    return told.getMessage() == null ? told.getClass().getSimpleName() : told.getMessage();
  }

  /** How many handshakes failed. */
  public long handshakeFailures() {
    return failures.get();
  }

  /** Looks at the files no more. */
  @Override
  public void close() {
    contexts.close();
  }
}
