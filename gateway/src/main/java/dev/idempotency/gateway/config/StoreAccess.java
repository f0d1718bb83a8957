package dev.idempotency.gateway.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Who the gateway is to its store, as far as the URL does not say so.
 *
 * @param user null: the one of the URL, or the store's default
 * @param password null: the one of the URL, or none
 * @param sentinelUser at the sentinels, which have users of their own; null: their default
 * @param sentinelPassword at the sentinels; null: none
 * @param tls what TLS needs besides the authorities of the JVM; null: nothing
 */
public record StoreAccess(
    @Nullable String user,
    @Nullable OutsideSecret password,
    @Nullable String sentinelUser,
    @Nullable OutsideSecret sentinelPassword,
    @Nullable Tls tls) {

  /** All of it is in the URL. */
  public static final StoreAccess NONE = new StoreAccess(null, null, null, null, null);

  /**
   * PEM files that could be read when the configuration was.
   *
   * @param authorities those that are trusted; null: those of the JVM
   * @param certificate the gateway's own; null: none
   * @param key its private key; null exactly where there is no certificate
   */
  public record Tls(@Nullable Path authorities, @Nullable Path certificate, @Nullable Path key) {}
}
