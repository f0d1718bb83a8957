package dev.idempotency.gateway.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Tells people what the admin API says. Everything that others wrote is made safe to print. */
final class Report {

  private static final int GAP = 2;

  private Report() {}

  /** One line for each operation. */
  static String table(Iterable<JsonNode> operations) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("ID", "STATE", "ATTEMPT", "AGE", "ROUTE", "TRACE"));
    for (JsonNode operation : operations) {
      rows.add(
          List.of(
              text(operation, "id"),
              text(operation, "state"),
              attempt(operation),
              age(operation),
              text(operation, "route"),
              text(operation, "trace")));
    }
    return aligned(rows);
  }

  /** With the name of its record, in the word that {@code --attempt} takes. */
  private static String attempt(JsonNode operation) {
    String attempt = text(operation, "attempt");
    return operation.has("holder") ? attempt + ":" + text(operation, "holder") : attempt;
  }

  /** For how long it is unknown; of one that runs, what is left of its lease. */
  private static String age(JsonNode operation) {
    if (operation.has("overdue_ms")) {
      return duration(operation.get("overdue_ms").asLong());
    }
    return operation.has("lease_left_ms")
        ? "lease " + duration(operation.get("lease_left_ms").asLong())
        : "-";
  }

  private static String aligned(List<List<String>> rows) {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    rows.forEach(
        row -> {
          for (int i = 0; i < columns; i++) {
            widths[i] = Math.max(widths[i], row.get(i).length());
          }
        });
    StringBuilder table = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + GAP));
      }
      table.append(line.toString().stripTrailing()).append('\n');
    }
    return table.toString();
  }

  /** All that is known of one operation. */
  static String operation(JsonNode operation) {
    StringBuilder text = new StringBuilder();
    line(text, "id", text(operation, "id"));
    line(text, "state", state(operation));
    line(text, "attempt", attempt(operation));
    // Of a finished operation these are not kept.
    for (String name : List.of("route", "trace")) {
      if (!operation.path(name).asText("").isEmpty()) {
        line(text, name, text(operation, name));
      }
    }
    JsonNode fingerprint = operation.path("fingerprint");
    line(
        text,
        "fingerprint",
        fingerprint.path("open").asBoolean()
            ? "open (the request was not seen whole)"
            : text(fingerprint, "hash") + " (version " + text(fingerprint, "version") + ")");
    if (operation.has("response")) {
      response(text, operation.get("response"));
    }
    operation.path("history").forEach(entry -> line(text, "history", entry(entry)));
    return text.toString();
  }

  private static String state(JsonNode operation) {
    String state = text(operation, "state");
    if (state.equals("unknown")) {
      return state
          + (operation.has("overdue_ms") ? " for " + age(operation) : "")
          + (operation.path("lapsed").asBoolean() ? " (its gateway fell silent)" : "");
    }
    return operation.has("lease_left_ms") ? state + ", " + age(operation) + " left" : state;
  }

  private static void response(StringBuilder text, JsonNode response) {
    if (response.path("sealed").asBoolean()) {
      line(text, "response", "sealed: this gateway has not the key of store.encryption");
      return;
    }
    line(text, "response", text(response, "status"));
    for (String part : List.of("headers", "trailers")) {
      response
          .path(part)
          .forEach(field -> line(text, "", text(field, "name") + ": " + text(field, "value")));
    }
    if (response.has("body_bytes")) {
      String pieces = response.has("pieces") ? " in " + text(response, "pieces") + " pieces" : "";
      line(text, "", "(" + text(response, "body_bytes") + " bytes of body" + pieces + ")");
    }
    if (response.has("body")) {
      text.append('\n').append(Terminal.lines(response.get("body").asText())).append('\n');
    } else if (response.has("body_base64")) {
      text.append("\nbase64 ").append(text(response, "body_base64")).append('\n');
    }
  }

  private static String entry(JsonNode entry) {
    return text(entry, "at")
        + " "
        + text(entry, "what")
        + " (attempt "
        + text(entry, "attempt")
        + ") by "
        + text(entry, "who")
        + ": "
        + text(entry, "why");
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(String.format("%-13s%s%n", name, value));
  }

  private static String text(JsonNode object, String name) {
    String text = Terminal.plain(object.path(name).asText(""));
    return text.isEmpty() ? "-" : text;
  }

  /** What was done. */
  static String done(JsonNode answer) {
    String action = text(answer, "action");
    String what =
        Map.of(
                "complete", "completed: retries get this response",
                "release", "released: the next request with its key runs",
                "extend", "kept for longer; its outcome is still unknown")
            .getOrDefault(action, action);
    return text(answer, "id") + " " + what + "\n";
  }

  /** In two units at most: 3d4h, 12m5s, 800ms. */
  static String duration(long millis) {
    Duration time = Duration.ofMillis(millis);
    if (time.toDays() > 0) {
      return time.toDays() + "d" + time.toHoursPart() + "h";
    } else if (time.toHours() > 0) {
      return time.toHours() + "h" + time.toMinutesPart() + "m";
    } else if (time.toMinutes() > 0) {
      return time.toMinutes() + "m" + time.toSecondsPart() + "s";
    }
    return time.toSeconds() > 0 ? time.toSeconds() + "s" : millis + "ms";
  }
}
