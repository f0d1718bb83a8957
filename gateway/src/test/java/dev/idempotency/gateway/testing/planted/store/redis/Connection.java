package dev.idempotency.gateway.testing.planted.store.redis;

public final class Connection {}
