package dev.idempotency.gateway.operations;

import java.util.List;
import java.util.Locale;

/**
 * How much a client wants HTML and JSON (RFC 9110 §12.5.1).
 *
 * @param html weight in thousandths, 0 to 1000
 * @param json weight in thousandths, 0 to 1000
 */
record Accepted(int html, int json) {

  /** Of the values of {@code Accept}; what can't be read says nothing. */
  static Accepted of(List<String> accept) {
    return new Accepted(weight(accept, "text", "html"), weight(accept, "application", "json"));
  }

  /** JSON is for who has no preference. */
  boolean prefersHtml() {
    return html > json;
  }

  /** The weight that the most specific range gives. */
  private static int weight(List<String> accept, String type, String subtype) {
    int best = 0;
    int weight = 0;
    for (String line : accept) {
      for (String range : line.toLowerCase(Locale.ROOT).split(",", -1)) {
        String[] parts = range.split(";", -1);
        int rank = rank(parts[0].trim(), type, subtype);
        if (rank > best) {
          best = rank;
          weight = quality(parts);
        }
      }
    }
    return weight;
  }

  private static int rank(String range, String type, String subtype) {
    if (range.equals(type + '/' + subtype)) {
      return 3;
    } else if (range.equals(type + "/*")) {
      return 2;
    }
    return range.equals("*/*") ? 1 : 0;
  }

  private static int quality(String[] parts) {
    for (int i = 1; i < parts.length; i++) {
      String part = parts[i].trim();
      if (part.startsWith("q=")) {
        String value = part.substring(2);
        return value.matches("[01](\\.[0-9]{0,3})?")
            ? Math.min(1000, (int) Math.round(Double.parseDouble(value) * 1000))
            : 0;
      }
    }
    return 1000;
  }
}
