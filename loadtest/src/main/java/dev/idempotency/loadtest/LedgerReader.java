package dev.idempotency.loadtest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads the upstream's ledger piece by piece: it may hold the keys of many runs.
 *
 * @param keys the keys that begin with the prefix of this run, and their counts
 * @param untracked what was counted without its key
 */
record LedgerReader(Map<String, Tally> keys, Tally untracked) {

  private static final JsonFactory JSON = new JsonFactory();

  /**
   * Reads {@code {"keys": {KEY: {"effects": 1, "attempts": 1}, …}, "untracked": {…}, …}}.
   *
   * @throws IOException if it cannot be read or is something else
   */
  static LedgerReader read(InputStream text, String prefix) throws IOException {
    Map<String, Tally> keys = new HashMap<>();
    Tally untracked = Tally.NONE;
    boolean complete = false;
    try (JsonParser parser = JSON.createParser(text)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        if (name.equals("keys")) {
          readKeys(parser, prefix, keys);
          complete = true;
        } else if (name.equals("untracked")) {
          untracked = readTally(parser);
        } else {
          parser.skipChildren();
        }
      }
    }
    if (!complete) {
      throw new IOException("the ledger has no \"keys\": is this the upstream's ledger?");
    }
    return new LedgerReader(keys, untracked);
  }

  private static void readKeys(JsonParser parser, String prefix, Map<String, Tally> keys)
      throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String key = parser.currentName();
      parser.nextToken();
      Tally tally = readTally(parser);
      if (key.startsWith(prefix)) {
        keys.put(key, tally);
      }
    }
  }

  private static Tally readTally(JsonParser parser) throws IOException {
    long effects = 0;
    long attempts = 0;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "effects" -> effects = parser.getLongValue();
        case "attempts" -> attempts = parser.getLongValue();
        default -> parser.skipChildren();
      }
    }
    return new Tally(effects, attempts);
  }
}
