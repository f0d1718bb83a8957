package dev.idempotency.gateway.exchange;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What of a response is stored.
 *
 * @param keep names, in small letters, of fields that are kept although the deny list has them
 * @param drop names, in small letters, of further fields that are not kept, whatever else says so
 * @param redactor takes members out of the body; null where it is kept as it is
 * @param expires whether responses say when their record ends
 */
public record CopyRule(
    Set<String> keep, Set<String> drop, @Nullable Redactor redactor, boolean expires) {

  /** Everything but what the deny list has. */
  public static final CopyRule DEFAULT = new CopyRule(Set.of(), Set.of(), null, false);

  public CopyRule {
    keep = Set.copyOf(keep);
    drop = Set.copyOf(drop);
  }
}
