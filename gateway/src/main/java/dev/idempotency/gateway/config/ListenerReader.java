package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Listener.Demand;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads where clients connect: one address, one listener, or a list of either. */
final class ListenerReader {

  private static final Format<Duration> RELOAD = Formats.duration("100ms", "24h", "10s");
  private static final Format<Demand> DEMAND = Formats.choice(Demand.class, "");

  private final SecretSource files;
  private final Problems problems;

  ListenerReader(SecretSource files, Problems problems) {
    this.files = files;
    this.problems = problems;
  }

  List<Listener> read(Section file) {
    List<Listener> listeners =
        file.each("listen", Formats.LISTEN.map(Listener::clear), this::listener);
    return listeners.isEmpty() ? List.of(Listener.clear(Defaults.LISTEN)) : listeners;
  }

  private Listener listener(Section listener) {
    try (listener) {
      HostAndPort address = listener.require("address", Formats.LISTEN, Defaults.LISTEN);
      Listener.Tls tls = tls(listener);
      return new Listener(address, listener.get("http2", Formats.TRUTH, tls != null), tls);
    }
  }

  private Listener.@Nullable Tls tls(Section listener) {
    try (Section tls = listener.section("tls")) {
      if (!listener.has("tls")) {
        return null;
      }
      Optional<Path> authorities = files.file(tls, "client-ca", problems);
      Optional<Demand> demand = tls.find("client-certificate", DEMAND);
      if (demand.isPresent() && !tls.has("client-ca")) {
        problems.add(
            tls.path("client-certificate"),
            Formats.print(demand.get()),
            "client-ca beside it, the authorities that sign clients' certificates");
      }
      return new Listener.Tls(
          file(tls, "certificate"),
          file(tls, "key"),
          authorities.orElse(null),
          demand.orElse(Demand.REQUIRED),
          tls.list("protocols", Formats.TLS_PROTOCOL)
              .map(protocols -> protocols.stream().distinct().toList())
              .orElse(Defaults.TLS_PROTOCOLS),
          tls.get("reload", RELOAD, Defaults.TLS_RELOAD));
    }
  }

  private Path file(Section tls, String key) {
    if (!tls.has(key)) {
      problems.add(tls.path(key), "missing", "a PEM file");
    }
    return files.file(tls, key, problems).orElse(Path.of(""));
  }
}
