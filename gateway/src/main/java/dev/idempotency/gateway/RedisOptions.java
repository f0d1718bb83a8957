package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.OutsideSecret;
import dev.idempotency.gateway.config.StoreAccess;
import dev.idempotency.gateway.store.redis.RedisAccess;
import dev.idempotency.gateway.store.redis.RedisStoreOptions;
import dev.idempotency.gateway.store.redis.RedisTls;
import dev.idempotency.gateway.transport.TlsFileException;
import dev.idempotency.gateway.transport.TlsFiles;
import org.jspecify.annotations.Nullable;

/** What the configuration says of Redis, as the store wants it. */
final class RedisOptions {

  private RedisOptions() {}

  /** Reads the files that it names. */
  static RedisStoreOptions of(Configuration.Store.Redis redis) throws StartupException {
    StoreAccess from = redis.access();
    try {
      RedisAccess access =
          new RedisAccess(
              from.user(),
              value(from.password()),
              from.sentinelUser(),
              value(from.sentinelPassword()),
              tls(from.tls()));
      return new RedisStoreOptions(redis.url(), redis.prefix(), redis.timeout(), access);
    } catch (IllegalArgumentException e) {
      // The store knows more of its URL than the file's reader does.
      throw new StartupException("store: " + e.getMessage());
    } catch (TlsFileException e) {
      throw new StartupException("store.tls: " + e.getMessage());
    }
  }

  private static @Nullable String value(@Nullable OutsideSecret secret) {
    return secret == null ? null : secret.value();
  }

  private static @Nullable RedisTls tls(StoreAccess.@Nullable Tls files) throws TlsFileException {
    if (files == null) {
      return null;
    }
    TlsFiles.Contents contents =
        new TlsFiles(files.certificate(), files.key(), files.authorities()).load();
    return new RedisTls(contents.authorities(), contents.chain(), contents.key());
  }
}
