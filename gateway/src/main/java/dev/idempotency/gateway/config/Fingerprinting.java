package dev.idempotency.gateway.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What tells a retry from a reuse of the key, besides method, path and media type.
 *
 * @param body what of a body counts
 * @param ignore JSON pointers (RFC 6901) to members that do not count; none where the body is raw
 * @param only JSON pointers to the only members that count, before the ignored ones are left out;
 *     none: all count; none where the body is raw
 * @param headers header fields that count
 * @param query names of the only parameters that count; null: the whole query counts
 * @param version which algorithm writes; 1 or 2. Fingerprints of both are recognised
 */
public record Fingerprinting(
    Body body,
    List<String> ignore,
    List<String> only,
    List<String> headers,
    @Nullable List<String> query,
    int version) {

  public Fingerprinting {
    ignore = List.copyOf(ignore);
    only = List.copyOf(only);
    headers = List.copyOf(headers);
    query = query == null ? null : List.copyOf(query);
  }

  /** What of a body counts. */
  public enum Body {
    /** Its canonical form, where it has one. */
    CANONICAL,
    /** Its bytes as they came, whatever the media type. */
    RAW
  }
}
