package dev.idempotency.gateway.upstream;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How an upstream is spoken to under TLS. Its certificate is always verified, against its name too.
 *
 * @param authorities PEM file of the authorities that are trusted; null: those of the JVM
 * @param certificate PEM file of the gateway's own certificate; null where it shows none
 * @param privateKey PEM file of that certificate's private key; null with it
 * @param serverName the name that is sent (SNI, RFC 6066 §3) and that the certificate must have;
 *     null: the host of the URL
 */
public record TlsOptions(
    @Nullable Path authorities,
    @Nullable Path certificate,
    @Nullable Path privateKey,
    @Nullable String serverName) {}
