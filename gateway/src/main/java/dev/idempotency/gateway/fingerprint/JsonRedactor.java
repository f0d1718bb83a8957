package dev.idempotency.gateway.fingerprint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import dev.idempotency.gateway.exchange.Redactor;
import dev.idempotency.gateway.http.Headers;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes the values that JSON pointers (RFC 6901) name out of JSON bodies. Each is replaced by the
 * string {@code "[redacted]"}, which nobody takes for data, as they might a null; everything else
 * stays byte for byte as it was.
 *
 * <p>The token {@code *} stands for every element of an array and every member of an object. Where
 * a name occurs more than once in an object, each of its values is replaced: readers differ in
 * which one they take.
 *
 * <p>A body that is not surely understood is not redacted at all: not JSON by its media type, in a
 * charset other than UTF-8, with a content coding, malformed, or nested deeper than {@link
 * #MAX_DEPTH}.
 */
public final class JsonRedactor implements Redactor {

  /** How deep objects and arrays may be nested. */
  static final int MAX_DEPTH = 500;

  private static final int BYTES_OF_ENCODING = 4;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          // Names come from anybody: they have no place among the constants of the process.
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private final List<String> pointers;
  private final List<String[]> paths;

  private JsonRedactor(List<String> pointers) {
    this.pointers = List.copyOf(pointers);
    this.paths = pointers.stream().map(JsonRedactor::path).toList();
  }

  /**
   * A redactor, or null where there is nothing to take out.
   *
   * @throws IllegalArgumentException if one is no pointer to a part of a document
   */
  public static @Nullable JsonRedactor of(List<String> pointers) {
    return pointers.isEmpty() ? null : new JsonRedactor(pointers);
  }

  private static String[] path(String pointer) {
    PointerTree.check(pointer);
    String[] tokens = pointer.substring(1).split("/", -1);
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = tokens[i].replace("~1", "/").replace("~0", "~");
    }
    return tokens;
  }

  @Override
  public byte @Nullable [] redact(Headers headers, byte[] body) {
    if (body.length == 0) {
      return body;
    }
    if (!isJson(headers) || !isUtf8(body)) {
      return null;
    }
    try (JsonParser parser = JSON.createParser(body)) {
      return new Redaction(parser, body, paths).run();
    } catch (IOException | RuntimeException e) {
      // Not understood, by whatever it was: then nothing of it may be stored.
      return null;
    }
  }

  private static boolean isJson(Headers headers) {
    String type = headers.get("Content-Type");
    return type != null
        && headers.count("Content-Type") == 1
        && !headers.contains("Content-Encoding")
        && MediaType.of(type).isJson();
  }

  /** The parser would guess UTF-16 and UTF-32, which have a zero here (RFC 8259 §8.1). */
  private static boolean isUtf8(byte[] body) {
    for (int i = 0; i < Math.min(BYTES_OF_ENCODING, body.length); i++) {
      if (body[i] == 0) {
        return false;
      }
    }
    return body[0] > 0;
  }

  @Override
  public String described() {
    return String.join(", ", pointers);
  }
}
