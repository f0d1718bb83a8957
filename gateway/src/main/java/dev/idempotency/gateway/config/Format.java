package dev.idempotency.gateway.config;

import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How one kind of value is written.
 *
 * @param kind what YAML must take it for; null where that does not matter
 * @param parser reads the text; none is right for the empty one
 * @param hidden whether a wrong value is a secret all the same
 */
record Format<T>(@Nullable Kind kind, Function<String, Parsed<T>> parser, boolean hidden) {

  /** What YAML takes a scalar for (YAML 1.2 core schema, §10.3.2). */
  enum Kind {
    TEXT,
    INTEGER,
    TRUTH,
    NOTHING
  }

  /** What came of reading a text. */
  sealed interface Parsed<T> {
    record Good<T>(T value) implements Parsed<T> {}

    /**
     * The text does not say what it should.
     *
     * @param expected what would have been right
     */
    record Bad<T>(String expected) implements Parsed<T> {}
  }

  static <T> Format<T> text(Function<String, Parsed<T>> parser) {
    return new Format<>(Kind.TEXT, parser, false);
  }

  /** Texts that YAML may take for numbers. */
  static <T> Format<T> anyKind(Function<String, Parsed<T>> parser) {
    return new Format<>(null, parser, false);
  }

  /** The same texts for values made of these. */
  <R> Format<R> map(Function<T, R> made) {
    return new Format<>(
        kind,
        text ->
            parser.apply(text) instanceof Parsed.Good<T> good
                ? new Parsed.Good<>(made.apply(good.value()))
                : new Parsed.Bad<>(expected(text)),
        hidden);
  }

  private String expected(String text) {
    return parser.apply(text) instanceof Parsed.Bad<T> bad ? bad.expected() : "a value";
  }

  Format<T> asHidden() {
    return new Format<>(kind, parser, true);
  }

  /** What is right, where there is no value that could be wrong in a particular way. */
  String expected() {
    return expected("");
  }

  /** Reads the text of a scalar. */
  Parsed<T> read(String text, Kind found) {
    Parsed<T> parsed = parser.apply(text);
    if (kind == null || found == kind || parsed instanceof Parsed.Bad) {
      return parsed;
    }
    return new Parsed.Bad<>(expected() + (kind == Kind.TEXT ? ", in quotes" : ", without quotes"));
  }

  /** A format whose texts are right or wrong for one reason only. */
  static <T> Format<T> text(String expected, Function<String, Optional<T>> parser) {
    return text(text -> orElseBad(parser.apply(text), expected));
  }

  static <T> Parsed<T> orElseBad(Optional<T> value, String expected) {
    return value.isPresent() ? new Parsed.Good<>(value.get()) : new Parsed.Bad<>(expected);
  }
}
