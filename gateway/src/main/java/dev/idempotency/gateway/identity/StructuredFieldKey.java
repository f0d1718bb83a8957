package dev.idempotency.gateway.identity;

import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import dev.idempotency.gateway.idempotency.KeySyntax;
import org.greenbytes.http.sfv.BooleanItem;
import org.greenbytes.http.sfv.ByteSequenceItem;
import org.greenbytes.http.sfv.NumberItem;
import org.greenbytes.http.sfv.Parser;
import org.greenbytes.http.sfv.StringItem;
import org.greenbytes.http.sfv.TokenItem;

/**
 * Reads a key as the standard of the header has it: an Item whose value is a String (RFC 9651
 * §3.3.3), of 1 to {@value IdempotencyKey#MAX_LENGTH} characters. Parameters are ignored.
 */
public final class StructuredFieldKey implements KeySyntax {

  /** The one that is needed. */
  public static final KeySyntax STRICT = new StructuredFieldKey();

  private static final String EXPECTED =
      " (expected: a string in double quotes, as RFC 9651 has it)";

  private StructuredFieldKey() {}

  @Override
  public Reading read(String value) {
    if (value.isBlank()) {
      return malformed("it is empty");
    }
    try {
      Object item = Parser.parseItem(value);
      return item instanceof StringItem text
          ? IdempotencyKey.readText(text.get())
          : malformed("it is " + typeOf(item));
    } catch (IllegalArgumentException e) {
      // Its message has the bytes that came.
      return malformed("it is no structured field");
    }
  }

  private static String typeOf(Object item) {
    if (item instanceof TokenItem) {
      return "a bare token";
    }
    if (item instanceof NumberItem<?>) {
      return "a number";
    }
    if (item instanceof ByteSequenceItem) {
      return "a byte sequence";
    }
    return item instanceof BooleanItem ? "a truth value" : "of another type";
  }

  private static Reading malformed(String reason) {
    return new Reading.Malformed(reason + EXPECTED);
  }
}
