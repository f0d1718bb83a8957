package dev.idempotency.gateway;

import dev.idempotency.gateway.transport.Transport;
import java.util.ArrayList;
import java.util.List;

/**
 * Configurations for tests of the two network edges: {@code /keyed/**} needs a key, everything else
 * is passed through.
 */
final class EdgeYaml {

  private final String url;
  private final List<String> upstream = new ArrayList<>();
  private final List<String> limits = new ArrayList<>();
  private final List<String> top = new ArrayList<>();
  private int threads = 1;

  private EdgeYaml(String url) {
    this.url = url;
  }

  /** One event loop, so that all connections to the upstream are in one pool. */
  static EdgeYaml of(String url) {
    return new EdgeYaml(url);
  }

  EdgeYaml threads(int number) {
    threads = number;
    return this;
  }

  /** Such as {@code "idle-timeout: 1s"}. */
  EdgeYaml upstream(String... options) {
    upstream.addAll(List.of(options));
    return this;
  }

  EdgeYaml limits(String... options) {
    limits.addAll(List.of(options));
    return this;
  }

  /** Such as {@code "hosts: [api.example.com]"}. */
  EdgeYaml top(String... lines) {
    top.addAll(List.of(lines));
    return this;
  }

  TestGateway start(Transport transport) {
    return TestGateway.start(transport, toString());
  }

  TestGateway start() {
    return TestGateway.start(toString());
  }

  @Override
  public String toString() {
    StringBuilder yaml = new StringBuilder("store: memory\ndrain: 1s\n");
    yaml.append("threads: ").append(threads).append('\n');
    top.forEach(line -> yaml.append(line).append('\n'));
    if (!limits.isEmpty()) {
      yaml.append("limits: { ").append(String.join(", ", limits)).append(" }\n");
    }
    yaml.append("upstreams:\n  app: { url: \"").append(url).append('"');
    upstream.forEach(option -> yaml.append(", ").append(option));
    yaml.append(" }\nroutes:\n");
    yaml.append("  - { name: keyed, path: /keyed/**, upstream: app, idempotency: required }\n");
    yaml.append("  - { name: plain, path: /**, upstream: app, idempotency: off }\n");
    return yaml.toString();
  }
}
