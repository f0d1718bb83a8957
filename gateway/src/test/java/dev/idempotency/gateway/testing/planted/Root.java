package dev.idempotency.gateway.testing.planted;

/** Stands for the root package. */
public final class Root {
  public static final class Wiring {}
}
