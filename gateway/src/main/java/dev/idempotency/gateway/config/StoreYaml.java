package dev.idempotency.gateway.config;

import static dev.idempotency.gateway.config.YamlText.print;
import static dev.idempotency.gateway.config.YamlText.quote;

import dev.idempotency.gateway.config.Configuration.Store;
import org.jspecify.annotations.Nullable;

/** Prints where the records are. */
final class StoreYaml {

  private final YamlText yaml;

  StoreYaml(YamlText yaml) {
    this.yaml = yaml;
  }

  void store(Store store) {
    yaml.line(0, "store:");
    if (store instanceof Store.Redis redis) {
      redis(redis);
    } else if (store instanceof Store.Postgres postgres) {
      postgres(postgres);
    } else if (store instanceof Store.Memory memory) {
      yaml.line(2, "url", "memory");
      yaml.line(2, "max-bytes", Sizes.print(memory.maxBytes()));
    }
  }

  private void redis(Store.Redis redis) {
    yaml.line(2, "url", quote(redis.maskedUrl()));
    StoreAccess access = redis.access();
    owner(access);
    if (redis.kind() == Store.Redis.Kind.SENTINEL) {
      yaml.given(2, "sentinel-user", access.sentinelUser(), "none");
      yaml.outside(2, "sentinel-password", access.sentinelPassword(), "none");
    }
    tls(access.tls());
    yaml.line(2, "timeout", print(redis.timeout()));
    yaml.line(2, "prefix", quote(redis.prefix()));
    yaml.line(2, "checks", print(redis.checks()));
  }

  private void postgres(Store.Postgres postgres) {
    yaml.line(2, "url", quote(postgres.maskedUrl()));
    owner(postgres.access());
    yaml.line(2, "timeout", print(postgres.timeout()));
    yaml.line(2, "pool", postgres.pool());
  }

  private void owner(StoreAccess access) {
    yaml.given(2, "user", access.user(), "none beside the URL");
    yaml.outside(2, "password", access.password(), "none beside the URL");
  }

  private void tls(StoreAccess.@Nullable Tls tls) {
    if (tls == null) {
      return;
    }
    if (tls.authorities() == null && tls.certificate() == null && tls.key() == null) {
      yaml.line(2, "tls", "{}");
      return;
    }
    yaml.line(2, "tls:");
    yaml.given(4, "ca", tls.authorities(), "the JVM's");
    yaml.given(4, "certificate", tls.certificate(), "none");
    yaml.given(4, "key", tls.key(), "none");
  }
}
