package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HopByHop;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.operations.Asked.UnfitException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** Reads the response that an operator gives in the upstream's place. */
final class GivenResponse {

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}");
  private static final Pattern VALUE = Pattern.compile("(?:[!-~](?:[ -~]*[!-~])?)?");

  private GivenResponse() {}

  static StoredResponse read(Asked asked) throws UnfitException {
    Map<String, Object> object = asked.object("response");
    if (object == null) {
      throw new UnfitException("response is missing, which complete needs.");
    }
    Asked response = Asked.of(object, "status", "headers", "body", "body_base64");
    Long status = response.number("status", 200, 599);
    if (status == null) {
      throw new UnfitException("status of response is missing.");
    }
    return new StoredResponse(status.intValue(), headers(response), body(response), new Headers());
  }

  private static byte[] body(Asked response) throws UnfitException {
    String text = response.text("body");
    String coded = response.text("body_base64");
    if (text != null && coded != null) {
      throw new UnfitException("body and body_base64 are given (expected: one of them).");
    }
    if (coded == null) {
      return text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return Base64.getDecoder().decode(coded);
    } catch (IllegalArgumentException e) {
      throw new UnfitException("body_base64 is not base64.");
    }
  }

  private static Headers headers(Asked response) throws UnfitException {
    Headers headers = new Headers();
    Map<String, Object> given = response.object("headers");
    if (given == null) {
      return headers;
    }
    for (Map.Entry<String, Object> field : given.entrySet()) {
      checkName(field.getKey());
      Object value = field.getValue();
      for (Object line : value instanceof List<?> list ? list : List.of(value)) {
        if (!(line instanceof String text) || !VALUE.matcher(text).matches()) {
          throw new UnfitException(
              "The header " + field.getKey() + " has a value that is no visible ASCII.");
        }
        headers.add(field.getKey(), text);
      }
    }
    return headers;
  }

  /** What frames a message and what only the gateway says is made anew for each replay. */
  private static void checkName(String name) throws UnfitException {
    String lower = name.toLowerCase(Locale.ROOT);
    if (!NAME.matcher(name).matches()) {
      throw new UnfitException("headers has a name that is none.");
    }
    if (HopByHop.isHopByHop(name)
        || lower.equals("content-length")
        || lower.startsWith("idempotency-")
        || lower.startsWith("idempotent-")) {
      throw new UnfitException("The header " + name + " is the gateway's own to set.");
    }
  }
}
