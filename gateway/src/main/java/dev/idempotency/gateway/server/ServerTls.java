package dev.idempotency.gateway.server;

import dev.idempotency.gateway.transport.ReloadingTls;
import dev.idempotency.gateway.transport.SslContexts;
import dev.idempotency.gateway.transport.TlsFileException;
import dev.idempotency.gateway.transport.TlsFiles;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslProvider;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS of one listener.
 *
 * <p>Threading: safe from any thread.
 */
final class ServerTls implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ServerTls.class);

  private final ReloadingTls contexts;
  private final List<String> protocols;
  private final long handshakeMillis;
  private final LongAdder failures = new LongAdder();

  private ServerTls(ReloadingTls contexts, List<String> protocols, long handshakeMillis) {
    this.contexts = contexts;
    this.protocols = protocols;
    this.handshakeMillis = handshakeMillis;
  }

  /** Reads the files, on this thread. */
  static ServerTls start(TlsOptions options, boolean http2, Duration handshakeTimeout)
      throws TlsFileException {
    ClientAuth clients = clients(options);
    SslProvider provider = SslContexts.provider();
    ReloadingTls contexts =
        ReloadingTls.start(
            new TlsFiles(options.certificate(), options.privateKey(), options.clientAuthorities()),
            options.reloadInterval(),
            contents -> SslContexts.server(provider, contents, options.protocols(), clients, http2),
            new Log(options));
    LOG.info(
        "TLS with {}, certificate {} until {}",
        SslContexts.describe(provider),
        options.certificate(),
        contexts.expires());
    warnIfExpired(options, contexts.expires());
    return new ServerTls(
        contexts, SslContexts.applicationProtocols(http2), handshakeTimeout.toMillis());
  }

  private static ClientAuth clients(TlsOptions options) {
    if (options.clientAuthorities() == null) {
      return ClientAuth.NONE;
    }
    return options.clientCertificateDemanded() ? ClientAuth.REQUIRE : ClientAuth.OPTIONAL;
  }

  private static void warnIfExpired(TlsOptions options, @Nullable Instant expires) {
    if (expires != null && expires.isBefore(Instant.now())) {
      LOG.warn("{}: the certificate expired at {}", options.certificate(), expires);
    }
  }

  private record Log(TlsOptions options) implements ReloadingTls.Listener {
    @Override
    public void reloaded(@Nullable Instant expires) {
      LOG.info("{} was read again, valid until {}", options.certificate(), expires);
      warnIfExpired(options, expires);
    }

    @Override
    public void refused(String reason) {
      LOG.warn("TLS files changed and are not used, those read before stay in use: {}", reason);
    }
  }

  SslContext context() {
    return contexts.context();
  }

  /** What is spoken, the best first, as ALPN names it. */
  List<String> protocols() {
    return protocols;
  }

  /** Most milliseconds from the connection's begin to the end of the handshake. */
  long handshakeMillis() {
    return handshakeMillis;
  }

  void handshakeFailed() {
    failures.increment();
  }

  /** Connections that ended before their handshake did, or with it. */
  long handshakeFailures() {
    return failures.sum();
  }

  /** Files that changed and were of no use. */
  long reloadFailures() {
    return contexts.failures();
  }

  /** When the certificate expires. */
  @Nullable Instant expires() {
    return contexts.expires();
  }

  @Override
  public void close() {
    contexts.close();
  }
}
