package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Headers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * As what a body counts in version 2.
 *
 * @param kind tells apart equal bytes that mean different things
 * @param type the media type; null where there is none or more than one
 * @param codings those that were undone; null where the field's lines count as they came
 * @param hash SHA-256 of the form
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record BodyForm(Kind kind, @Nullable MediaType type, @Nullable List<String> codings, byte[] hash) {

  /** The numbers are hashed: they stay as they are. */
  enum Kind {
    RAW(0),
    JSON(1),
    /** What the route chooses of a JSON document. */
    JSON_CHOSEN(2),
    FORM(3),
    MULTIPART(4);

    final int number;

    Kind(int number) {
      this.number = number;
    }
  }

  /** Of a body that counts as the bytes that came. */
  static BodyForm raw(Headers headers, byte[] hash) {
    return new BodyForm(Kind.RAW, RequestFrame.singleMediaType(headers), null, hash);
  }

  boolean isData() {
    return kind != Kind.RAW;
  }
}
