package dev.idempotency.gateway.testing.planted.transport;

public final class Wire {}
