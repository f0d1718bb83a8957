package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.http.FieldBytes;
import dev.idempotency.gateway.http.Headers;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a stored response in column {@code fields}: format (1 byte: 1), then header fields
 * and trailer fields as {@link FieldBytes}.
 */
final class FieldsFormat {

  private static final byte FORMAT = 1;

  private FieldsFormat() {}

  /** Both parts of a response. */
  record Fields(Headers headers, Headers trailers) {}

  static byte[] write(Headers headers, Headers trailers) {
    ByteBuffer to =
        ByteBuffer.allocate(1 + FieldBytes.size(headers) + FieldBytes.size(trailers)).put(FORMAT);
    FieldBytes.write(headers, to);
    FieldBytes.write(trailers, to);
    return to.array();
  }

  /** Null where that is nothing that this version knows. */
  static @Nullable Fields read(byte @Nullable [] column) {
    if (column == null || column.length == 0 || column[0] != FORMAT) {
      return null;
    }
    ByteBuffer from = ByteBuffer.wrap(column).position(1);
    try {
      Fields fields = new Fields(FieldBytes.read(from), FieldBytes.read(from));
      return from.hasRemaining() ? null : fields;
    } catch (BufferUnderflowException e) {
      return null;
    }
  }
}
