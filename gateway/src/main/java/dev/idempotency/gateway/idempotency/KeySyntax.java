package dev.idempotency.gateway.idempotency;

/**
 * How the value of one field line is read as a key.
 *
 * <p>Threading: safe from any thread, returns at once. Failure: never throws.
 */
public interface KeySyntax {

  /** A quoted structured-field string or the bare form, which are the same key. */
  KeySyntax LENIENT = IdempotencyKey::read;

  /** Reads one field value, with or without blanks around it. */
  IdempotencyKey.Reading read(String value);
}
