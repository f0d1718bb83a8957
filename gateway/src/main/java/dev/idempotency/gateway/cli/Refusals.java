package dev.idempotency.gateway.cli;

import com.fasterxml.jackson.databind.JsonNode;

/** Says in one line why a gateway refused, and what to do. */
final class Refusals {

  private Refusals() {}

  /**
   * @param answer the body; missing where it was no JSON
   * @param posted whether something with a body was asked
   */
  static String line(String url, int status, JsonNode answer, boolean posted) {
    String error = answer.path("error").asText("");
    String detail = Terminal.plain(answer.path("detail").asText(""));
    return switch (error) {
      case "operators-not-configured" ->
          "operators.read is not configured at " + url + " (nor operators.write): " + detail;
      case "token-missing" ->
          "the token is none of the gateway's at "
              + url
              + " (expected: operators.read or operators.write of its configuration, in "
              + Words.TOKEN_VARIABLE
              + " or --token-file)";
      case "not-resolved" ->
          detail + " Nothing was changed; show it, and decide anew with its --attempt.";
      case "" -> unexpected(url, status, posted);
      default -> detail;
    };
  }

  private static String unexpected(String url, int status, boolean posted) {
    return status == 413 && posted
        ? "too much for " + url + " (the body of a response may have some 190 KiB here)"
        : "what answers at "
            + url
            + " with "
            + status
            + " is no admin listener (expected: the admin address of a gateway in --admin)";
  }
}
