package dev.idempotency.gateway.config;

import org.jspecify.annotations.Nullable;

/**
 * Who may look at operations and resolve them, on the admin listener. One token at least; the two
 * differ.
 *
 * @param read the token of those who may look; {@link Secret#MIN_LENGTH} characters or more. Null:
 *     nobody may who may not resolve
 * @param write the token of those who may also resolve; the same length. Null: nobody may
 * @param bodies whether stored bodies are shown to those who ask for them
 */
public record Operators(
    @Nullable OutsideSecret read, @Nullable OutsideSecret write, boolean bodies) {}
