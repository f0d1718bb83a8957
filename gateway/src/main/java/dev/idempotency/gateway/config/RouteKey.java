package dev.idempotency.gateway.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a route's keys come from and what they must be.
 *
 * @param sources tried in this order; one or more, no two the same
 * @param syntax how a header field is read
 * @param form what a key must look like
 * @param timeBound whether a key that is too old by its own time is refused; only where its form
 *     has a time
 * @param firstSent the header field that says when the operation was sent first, by which it may be
 *     too old; null where there is none, and never beside timeBound
 * @param skew by how much clocks may differ; 0 to 1 h; where keys have an age, less than half of
 *     the retention
 * @param derive for how long a request without a key counts as the same operation as an equal one
 *     of the same caller; 1 s to 24 h, at most the retention; zero: never
 */
public record RouteKey(
    List<Source> sources,
    Syntax syntax,
    Form form,
    boolean timeBound,
    @Nullable String firstSent,
    Duration skew,
    Duration derive) {

  public RouteKey {
    sources = List.copyOf(sources);
  }

  /** Where a request carries its key. The text of each reads as the same source. */
  public sealed interface Source {

    /**
     * A header field.
     *
     * @param name the name of an end-to-end field
     */
    record Header(String name) implements Source {
      @Override
      public String toString() {
        return "header:" + name;
      }
    }

    /**
     * A parameter of the query.
     *
     * @param name as it is when percent-encoding is undone
     */
    record Query(String name) implements Source {
      @Override
      public String toString() {
        return "query:" + name;
      }
    }

    /**
     * A member of a JSON body.
     *
     * @param pointer a JSON pointer (RFC 6901)
     */
    record Pointer(String pointer) implements Source {
      @Override
      public String toString() {
        return "pointer:" + pointer;
      }
    }
  }

  /** How a header field is read. */
  public enum Syntax {
    /** A quoted structured-field string or the bare form. */
    LENIENT,
    /** A structured-field string only (RFC 9651 §3.3.3). */
    STRICT
  }

  /**
   * What a key must look like.
   *
   * @param kind which form
   * @param regex what the whole key must match, in the syntax of RE2; empty for other kinds
   */
  public record Form(Kind kind, String regex) {

    /** The forms. */
    public enum Kind {
      ANY,
      UUID,
      UUID7,
      ULID,
      REGEX
    }

    static final Form ANY = new Form(Kind.ANY, "");

    /** Whether keys of this form say when they were made. */
    boolean hasTime() {
      return kind == Kind.UUID7 || kind == Kind.ULID;
    }

    @Override
    public String toString() {
      return kind == Kind.REGEX ? '/' + regex + '/' : Formats.print(kind);
    }
  }

  /** Whether keys may be too old. */
  public boolean hasAge() {
    return timeBound || firstSent != null;
  }

  boolean isInBody() {
    return sources.stream().anyMatch(Source.Pointer.class::isInstance);
  }
}
