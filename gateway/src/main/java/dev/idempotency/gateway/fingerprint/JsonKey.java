package dev.idempotency.gateway.fingerprint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import dev.idempotency.gateway.idempotency.KeyInBody;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The key that is a string in a JSON body. The whole document is read: what is broken anywhere, or
 * has a name twice on the way to the key, would be read by somebody else in another way and is
 * refused. The content codings gzip and deflate (RFC 9110 §8.4.1) are undone first, within a limit;
 * of a body that is coded in another way nobody here can say what its key is.
 *
 * <p>Threading: safe from any thread. Time and memory are linear in the body, or in the limit where
 * the body is coded, and nothing recurses.
 */
public final class JsonKey implements KeyInBody {

  /** Numbers and strings beside the key may be of any length: they are passed over. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(JsonCanonicalizer.MAX_DEPTH)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private final String[] tokens;
  private final long decodedLimit;

  /**
   * @param pointer a JSON pointer (RFC 6901) to a part of a document
   * @param decodedLimit most bytes of a body whose content coding is undone
   */
  public JsonKey(String pointer, long decodedLimit) {
    PointerTree.check(pointer);
    String[] parts = pointer.substring(1).split("/", -1);
    for (int i = 0; i < parts.length; i++) {
      parts[i] = parts[i].replace("~1", "/").replace("~0", "~");
    }
    this.tokens = parts;
    this.decodedLimit = decodedLimit;
  }

  @Override
  public Reading find(RequestHead head, byte[] body) {
    if (body.length == 0) {
      return IdempotencyKey.absent();
    }
    Headers headers = head.headers();
    String type = headers.get("content-type");
    if (type == null || headers.count("content-type") > 1 || !MediaType.of(type).isJson()) {
      return malformed("the body is not JSON in UTF-8 by its Content-Type");
    }
    return RequestFrame.isCoded(headers) ? decoded(headers, body) : text(body);
  }

  private Reading decoded(Headers headers, byte[] body) {
    List<String> codings = ContentDecoder.codings(headers.all("content-encoding"));
    if (!ContentDecoder.knows(codings)) {
      return malformed(
          "the body's Content-Encoding can't be undone (expected: gzip or deflate, at most "
              + ContentDecoder.MOST_CODINGS
              + " of them)");
    }
    ContentDecoder decoder = new ContentDecoder(codings, decodedLimit);
    return switch (decoder.decode(body)) {
      case DECODED -> text(decoder.content());
      case UNREADABLE -> malformed("the body is not what its Content-Encoding says");
      case TOO_LARGE ->
          malformed("the decoded body is larger than the " + decodedLimit + " bytes allowed");
    };
  }

  private Reading text(byte[] body) {
    try {
      return find(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)));
    } catch (CharacterCodingException e) {
      return malformed("the body is not UTF-8");
    }
  }

  private Reading find(CharBuffer text) {
    try (JsonParser parser = JSON.createParser(text.array(), text.position(), text.remaining())) {
      if (parser.nextToken() == null) {
        return malformed("the body is blank");
      }
      Reading found = value(parser, 0);
      return parser.nextToken() == null ? found : malformed("something follows the body's JSON");
    } catch (StreamConstraintsException e) {
      return malformed("the body is nested deeper than " + JsonCanonicalizer.MAX_DEPTH + " levels");
    } catch (IOException e) {
      // Its message has characters of the body.
      return malformed("the body is broken JSON");
    }
  }

  /**
   * Reads the value that the parser stands at, to its end. Calls itself once for each token of the
   * pointer, however deep the document is.
   */
  private Reading value(JsonParser parser, int level) throws IOException {
    if (level == tokens.length) {
      return key(parser);
    }
    return switch (parser.currentToken()) {
      case START_OBJECT -> object(parser, level);
      case START_ARRAY -> array(parser, level);
      default -> IdempotencyKey.absent();
    };
  }

  private Reading object(JsonParser parser, int level) throws IOException {
    Reading found = IdempotencyKey.absent();
    boolean seen = false;
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      boolean ours = tokens[level].equals(parser.currentName());
      parser.nextToken();
      if (!ours) {
        parser.skipChildren();
      } else if (seen) {
        parser.skipChildren();
        found = malformed("a name on the way to it is there twice");
      } else {
        seen = true;
        found = value(parser, level + 1);
      }
    }
    return found;
  }

  private Reading array(JsonParser parser, int level) throws IOException {
    Reading found = IdempotencyKey.absent();
    int index = PointerTree.index(tokens[level]);
    for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
      if (i == index) {
        found = value(parser, level + 1);
      } else {
        parser.skipChildren();
      }
    }
    return found;
  }

  private static Reading key(JsonParser parser) throws IOException {
    JsonToken token = parser.currentToken();
    if (token == JsonToken.VALUE_STRING) {
      return IdempotencyKey.readText(parser.getText());
    }
    parser.skipChildren();
    return switch (token) {
      case VALUE_NULL -> IdempotencyKey.absent();
      case START_OBJECT -> malformed("it is an object (expected: a string)");
      case START_ARRAY -> malformed("it is an array (expected: a string)");
      case VALUE_TRUE, VALUE_FALSE -> malformed("it is a truth value (expected: a string)");
      default -> malformed("it is a number (expected: a string)");
    };
  }

  private static Reading malformed(String reason) {
    return new Reading.Malformed(reason);
  }
}
