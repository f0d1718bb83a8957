package dev.idempotency.gateway.fingerprint;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One walk through one document; nothing recurses. */
final class Redaction {

  private static final byte[] REDACTED = "\"[redacted]\"".getBytes(StandardCharsets.US_ASCII);
  private static final String ANY = "*";

  private final JsonParser parser;
  private final byte[] body;
  private final Deque<Level> levels = new ArrayDeque<>();
  private @Nullable ByteArrayOutputStream out;
  private int copied;

  /** The paths that lead to the value that comes next. */
  private List<String[]> leading;

  /** An object or array that is being read. */
  private static final class Level {
    final List<String[]> paths;
    final boolean array;
    int elements;

    Level(List<String[]> paths, boolean array) {
      this.paths = paths;
      this.array = array;
    }
  }

  /**
   * @param paths the unescaped tokens of each pointer, none of them empty
   */
  Redaction(JsonParser parser, byte[] body, List<String[]> paths) {
    this.parser = parser;
    this.body = body;
    this.leading = paths;
  }

  /**
   * The document without what the paths lead to; the same array where they lead to nothing.
   *
   * @throws IOException if it is no single JSON value
   */
  byte[] run() throws IOException {
    do {
      step(next());
    } while (!levels.isEmpty());
    if (parser.nextToken() != null) {
      throw new JsonParseException(parser, "more than one value");
    }
    ByteArrayOutputStream written = out;
    if (written == null) {
      return body;
    }
    written.write(body, copied, body.length - copied);
    return written.toByteArray();
  }

  private JsonToken next() throws IOException {
    JsonToken token = parser.nextToken();
    if (token == null) {
      throw new JsonParseException(parser, "no value");
    }
    return token;
  }

  private void step(JsonToken token) throws IOException {
    Level level = levels.peek();
    if (token == JsonToken.FIELD_NAME && level != null) {
      leading = following(level.paths, parser.currentName());
    } else if (token.isStructEnd()) {
      levels.pop();
    } else {
      if (level != null && level.array) {
        int index = level.elements++;
        leading =
            level.paths.isEmpty() ? level.paths : following(level.paths, Integer.toString(index));
      }
      value(token);
    }
  }

  private void value(JsonToken token) throws IOException {
    int depth = levels.size();
    for (int i = 0; i < leading.size(); i++) {
      if (leading.get(i).length == depth) {
        replace(token);
        return;
      }
    }
    if (token.isStructStart()) {
      levels.push(new Level(leading, token == JsonToken.START_ARRAY));
    }
  }

  private List<String[]> following(List<String[]> paths, String token) {
    if (paths.isEmpty()) {
      return paths;
    }
    int at = levels.size() - 1;
    List<String[]> following = new ArrayList<>(paths.size());
    for (String[] path : paths) {
      if (path[at].equals(token) || path[at].equals(ANY)) {
        following.add(path);
      }
    }
    return following;
  }

  private void replace(JsonToken token) throws IOException {
    int start = (int) parser.currentTokenLocation().getByteOffset();
    if (token.isStructStart()) {
      parser.skipChildren();
    } else {
      parser.finishToken();
    }
    ByteArrayOutputStream to = out;
    if (to == null) {
      to = new ByteArrayOutputStream(body.length);
      out = to;
    }
    to.write(body, copied, start - copied);
    to.write(REDACTED, 0, REDACTED.length);
    copied = (int) parser.currentLocation().getByteOffset();
  }
}
