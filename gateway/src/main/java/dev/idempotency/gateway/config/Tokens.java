package dev.idempotency.gateway.config;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How callers' tokens are verified (RFC 7519).
 *
 * @param keys where the JSON Web Key Set is (RFC 7517): an {@code http} or {@code https} URI, or
 *     the {@code file} URI of a file that could be read when the configuration was
 * @param issuer what {@code iss} must be; null where it is not looked at
 * @param audience one of which must be in {@code aud}; empty where it is not looked at
 * @param algorithms the only ones that count; one or more, asymmetric
 * @param leeway by how much clocks may differ; 0 to 5 min
 * @param refresh how long keys count before they are fetched again; 1 s to 24 h
 * @param authorities PEM file of the authorities that are trusted; null: those of the JVM, or where
 *     the keys do not come by {@code https}
 */
public record Tokens(
    URI keys,
    @Nullable String issuer,
    List<String> audience,
    List<String> algorithms,
    Duration leeway,
    Duration refresh,
    @Nullable Path authorities) {

  public Tokens {
    audience = List.copyOf(audience);
    algorithms = List.copyOf(algorithms);
  }
}
