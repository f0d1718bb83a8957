package dev.idempotency.gateway.testing.planted.config;

/** Its name says nothing. */
final class OptionManager {}
