package dev.idempotency.loadtest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the upstream's ledger on disk says of one key, over all lives of the upstream.
 *
 * @param effects how often the operation happened
 * @param numbers what each attempt said in {@code Idempotency-Attempt}
 */
record Effects(long effects, List<Long> numbers) {

  static final Effects NONE = new Effects(0, List.of());

  private static final JsonFactory JSON = new JsonFactory();

  Effects {
    numbers = List.copyOf(numbers);
  }

  private record Line(String event, @Nullable String key, long attempt) {}

  /**
   * Reads {@code {"event":"attempt","key":K,"attempt":1}} and {@code {"event":"effect","key":K}}.
   * The last line may have been cut off by the end of its writer.
   */
  static Map<String, Effects> read(Path ledger) throws IOException {
    Map<String, Effects> keys = new HashMap<>();
    try (BufferedReader lines = Files.newBufferedReader(ledger)) {
      for (String text = lines.readLine(); text != null; text = lines.readLine()) {
        Line line = parse(text);
        if (line != null && line.key() != null) {
          keys.merge(line.key(), NONE.with(line), (before, one) -> before.with(line));
        }
      }
    }
    return keys;
  }

  private Effects with(Line line) {
    if (line.event().equals("effect")) {
      return new Effects(effects + 1, numbers);
    }
    List<Long> more = new ArrayList<>(numbers);
    more.add(line.attempt());
    return new Effects(effects, more);
  }

  private static @Nullable Line parse(String text) throws IOException {
    String event = "";
    String key = null;
    long attempt = 0;
    try (JsonParser parser = JSON.createParser(text)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        switch (name) {
          case "event" -> event = parser.getText();
          case "key" ->
              key = parser.currentToken() == JsonToken.VALUE_NULL ? null : parser.getText();
          case "attempt" -> attempt = parser.getLongValue();
          default -> parser.skipChildren();
        }
      }
      return event.equals("effect") || event.equals("attempt")
          ? new Line(event, key, attempt)
          : null;
    } catch (JsonProcessingException e) {
      // Half a line: its writer was killed, and has not acted on it.
      return null;
    }
  }
}
