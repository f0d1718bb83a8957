package dev.idempotency.gateway.identity;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How callers' tokens are verified.
 *
 * @param keys where the JSON Web Key Set is (RFC 7517): a {@code file}, {@code http} or {@code
 *     https} URI
 * @param issuer what {@code iss} must be; null where it is not looked at
 * @param audiences one of which must be in {@code aud}; empty where it is not looked at
 * @param algorithms the only ones that count, such as {@code RS256}; one or more, asymmetric
 * @param leeway by how much clocks may differ
 * @param refresh how long keys count before they are fetched again
 * @param authorities PEM file of authorities for {@code https}; null: the JVM's
 */
public record TokenOptions(
    URI keys,
    @Nullable String issuer,
    Set<String> audiences,
    Set<String> algorithms,
    Duration leeway,
    Duration refresh,
    @Nullable Path authorities) {

  public TokenOptions {
    audiences = Set.copyOf(audiences);
    algorithms = Set.copyOf(algorithms);
  }
}
