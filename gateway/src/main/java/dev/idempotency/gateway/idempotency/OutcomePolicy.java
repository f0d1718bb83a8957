package dev.idempotency.gateway.idempotency;

import dev.idempotency.gateway.http.ResponseHead;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tells from a final response what became of the attempt. The upstream's own word in {@code
 * Idempotency-Outcome} comes first, then the route's map, then the default by status: 2xx, 3xx, 4xx
 * and 500 (501 and 505 too) are kept; 401, 403, 408, 425, 429 and a 503 with {@code Retry-After}
 * release; 502, 504 and any other 5xx but 501 and 505 are unknown.
 *
 * @param byStatus what the route says otherwise, by status code
 */
public record OutcomePolicy(Map<Integer, Outcome> byStatus) {

  /** The field by which an upstream says it itself; the gateway removes it. */
  public static final String HEADER = "Idempotency-Outcome";

  public OutcomePolicy {
    byStatus = Map.copyOf(byStatus);
  }

  /** The outcome that a final response stands for. */
  public Outcome of(ResponseHead head) {
    Outcome said = said(head);
    if (said != null) {
      return said;
    }
    Outcome mapped = byStatus.isEmpty() ? null : byStatus.get(head.status());
    return mapped != null ? mapped : byDefault(head);
  }

  /**
   * The upstream's own word, which speaks of the operation and not only of this attempt; null where
   * there is none. Any other word is no word, and neither are two that differ.
   */
  public static @Nullable Outcome said(ResponseHead head) {
    Outcome said = null;
    for (String value : head.headers().all(HEADER)) {
      Outcome word = word(value.trim());
      if (word == null || (said != null && said != word)) {
        return null;
      }
      said = word;
    }
    return said;
  }

  private static @Nullable Outcome word(String text) {
    if (text.equalsIgnoreCase("completed")) {
      return Outcome.COMPLETED;
    }
    return text.equalsIgnoreCase("released") ? Outcome.RELEASED : null;
  }

  private static Outcome byDefault(ResponseHead head) {
    return switch (head.status()) {
      case 401, 403, 408, 425, 429 -> Outcome.RELEASED;
      case 500, 501, 505 -> Outcome.COMPLETED;
      case 503 -> head.headers().contains("Retry-After") ? Outcome.RELEASED : Outcome.UNKNOWN;
      default -> head.status() < 500 ? Outcome.COMPLETED : Outcome.UNKNOWN;
    };
  }
}
