package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What is in an envelope: header fields, trailer fields, body up to the end.
 *
 * <p>Fields are: their number, then for each the length of its name, the name, the length of its
 * value, the value; numbers of 4 bytes, text in ISO 8859-1, in order, spelled as it came.
 */
final class Contents {

  private Contents() {}

  /** Everything before the body. */
  static byte[] fields(StoredResponse response) {
    Headers headers = response.headers();
    Headers trailers = response.trailers();
    ByteBuffer to = ByteBuffer.allocate(size(headers) + size(trailers));
    write(headers, to);
    write(trailers, to);
    return to.array();
  }

  private static int size(Headers fields) {
    int size = 4;
    for (int i = 0; i < fields.size(); i++) {
      size += 4 + fields.name(i).length() + 4 + fields.value(i).length();
    }
    return size;
  }

  private static void write(Headers fields, ByteBuffer to) {
    to.putInt(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      write(fields.name(i), to);
      write(fields.value(i), to);
    }
  }

  private static void write(String text, ByteBuffer to) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    to.putInt(bytes.length).put(bytes);
  }

  /**
   * The response.
   *
   * @param length of the body when it is not compressed
   * @throws UnreadableException if this is not what {@link #fields} and a body were written to
   */
  static StoredResponse read(int status, byte[] bytes, int at, boolean deflated, int length)
      throws UnreadableException {
    ByteBuffer from = ByteBuffer.wrap(bytes).position(at);
    try {
      Headers headers = readFields(from);
      Headers trailers = readFields(from);
      return new StoredResponse(
          status, headers, body(bytes, from.position(), deflated, length), trailers);
    } catch (BufferUnderflowException e) {
      throw new UnreadableException("it is cut off");
    }
  }

  private static byte[] body(byte[] bytes, int at, boolean deflated, int length)
      throws UnreadableException {
    if (deflated) {
      return Deflate.inflated(bytes, at, length);
    }
    if (bytes.length - at != length) {
      throw new UnreadableException("its length is wrong");
    }
    return Arrays.copyOfRange(bytes, at, bytes.length);
  }

  private static Headers readFields(ByteBuffer from) {
    int count = from.getInt();
    Headers fields = new Headers();
    for (int i = 0; i < count; i++) {
      String name = text(from);
      fields.add(name, text(from));
    }
    return fields;
  }

  private static String text(ByteBuffer from) {
    int length = from.getInt();
    if (length < 0 || length > from.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] bytes = new byte[length];
    from.get(bytes);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
