package dev.idempotency.gateway.operations;

import org.jspecify.annotations.Nullable;

/**
 * Who may look at operations and resolve them.
 *
 * @param read the token of those who may look; null where nobody may who may not resolve
 * @param write the token of those who may also resolve; null where nobody may
 * @param bodies whether stored bodies are shown to those who ask for them
 * @param issuer of callers' tokens, where one is demanded; else empty
 */
public record OperatorOptions(
    @Nullable String read, @Nullable String write, boolean bodies, String issuer) {

  /** Nobody may. */
  public static final OperatorOptions NOBODY = new OperatorOptions(null, null, false, "");

  boolean isNobody() {
    return read == null && write == null;
  }

  /** Without the tokens. */
  @Override
  public String toString() {
    return "OperatorOptions[" + (isNobody() ? "nobody" : "bodies " + bodies) + "]";
  }
}
