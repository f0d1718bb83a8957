package dev.idempotency.gateway.operations;

import java.nio.charset.StandardCharsets;

/**
 * What an endpoint answers.
 *
 * @param body the content; not to be modified
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record AdminResponse(int status, String contentType, byte[] body) {

  static AdminResponse json(int status, String json) {
    return new AdminResponse(
        status, "application/json", (json + '\n').getBytes(StandardCharsets.UTF_8));
  }

  /**
   * @param error stable, in lower case with hyphens
   * @param detail for people; no client data
   */
  static AdminResponse error(int status, String error, String detail) {
    StringBuilder json = new StringBuilder(128).append("{\"status\":").append(status);
    JsonText.quote(json.append(",\"error\":"), error);
    JsonText.quote(json.append(",\"detail\":"), detail);
    return json(status, json.append('}').toString());
  }
}
