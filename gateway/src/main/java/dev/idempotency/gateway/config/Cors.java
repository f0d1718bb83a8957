package dev.idempotency.gateway.config;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Which pages may read a route's answers in a browser.
 *
 * @param origins such as {@code https://app.example.com}, in small letters and without the scheme's
 *     own port, or {@code *} for all; one or more
 * @param credentials whether they may send credentials; not where all may
 */
public record Cors(Set<String> origins, boolean credentials) {

  /** Stands for every origin. */
  static final String ANY = "*";

  public Cors {
    origins = Collections.unmodifiableSet(new LinkedHashSet<>(origins));
  }
}
