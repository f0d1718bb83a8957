package dev.idempotency.gateway.config;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What of a response is stored.
 *
 * @param keep names, in small letters, of header fields that are stored and replayed although they
 *     belong to the first exchange, such as {@code Set-Cookie}
 * @param drop names, in small letters, of further header fields that are not stored; none of keep
 * @param redact JSON pointers (RFC 6901) to what is taken out of the stored body
 * @param expires whether responses say when their record ends
 */
public record ResponseCopy(
    Set<String> keep, Set<String> drop, List<String> redact, boolean expires) {

  public ResponseCopy {
    keep = Collections.unmodifiableSet(new LinkedHashSet<>(keep));
    drop = Collections.unmodifiableSet(new LinkedHashSet<>(drop));
    redact = List.copyOf(redact);
  }
}
