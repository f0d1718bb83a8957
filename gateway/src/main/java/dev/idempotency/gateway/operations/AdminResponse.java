package dev.idempotency.gateway.operations;

import java.nio.charset.StandardCharsets;

/**
 * What an endpoint answers.
 *
 * @param body the content; not to be modified
 * @param allow the methods that the place takes, where that is the answer; else empty
 * @param challenge what to show instead (RFC 9110 §11.6.1), where that is the answer; else empty
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record AdminResponse(int status, String contentType, byte[] body, String allow, String challenge) {

  AdminResponse(int status, String contentType, byte[] body) {
    this(status, contentType, body, "", "");
  }

  AdminResponse withAllow(String methods) {
    return new AdminResponse(status, contentType, body, methods, challenge);
  }

  AdminResponse withChallenge(String wanted) {
    return new AdminResponse(status, contentType, body, allow, wanted);
  }

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
