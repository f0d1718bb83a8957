package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.http.Headers;
import java.util.Locale;
import java.util.Set;

/** Which bodies are worth compressing: text that is not compressed yet. */
final class Compressible {

  private static final Set<String> TYPES =
      Set.of(
          "application/json",
          "application/xml",
          "application/javascript",
          "application/x-javascript",
          "application/x-www-form-urlencoded",
          "application/x-ndjson",
          "application/graphql",
          "application/yaml");

  private Compressible() {}

  /** By Content-Encoding and Content-Type. */
  static boolean is(Headers headers) {
    String type = headers.get("Content-Type");
    if (type == null || headers.contains("Content-Encoding")) {
      return false;
    }
    int end = type.indexOf(';');
    String media = (end < 0 ? type : type.substring(0, end)).trim().toLowerCase(Locale.ROOT);
    return media.startsWith("text/")
        || media.endsWith("+json")
        || media.endsWith("+xml")
        || TYPES.contains(media);
  }
}
