package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Upstream;
import dev.idempotency.gateway.transport.TlsFileException;
import dev.idempotency.gateway.upstream.UpstreamTls;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** TLS to the upstreams, of each upstream one that all event loops share. */
final class OutgoingTls implements AutoCloseable {

  private final Map<String, UpstreamTls> started = new LinkedHashMap<>();

  /** Reads the files; they may be of no use. */
  OutgoingTls(Configuration configuration) throws StartupException {
    for (Upstream upstream : configuration.upstreams().values()) {
      try {
        UpstreamTls tls =
            UpstreamTls.start(EdgeOptions.upstream(upstream, configuration.threads()));
        if (tls != null) {
          started.put(upstream.name(), tls);
        }
      } catch (TlsFileException e) {
        close();
        throw new StartupException("upstreams." + upstream.name() + ".tls: " + e.getMessage());
      }
    }
  }

  /** Null for a clear upstream. */
  @Nullable UpstreamTls of(String upstream) {
    return started.get(upstream);
  }

  @Override
  public void close() {
    started.values().forEach(UpstreamTls::close);
  }
}
