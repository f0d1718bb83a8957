package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.ArrayChunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.nio.charset.StandardCharsets;

/** Requests for tests, and their fingerprints. */
final class Requests {

  static final String FORM = "application/x-www-form-urlencoded";
  static final String JSON = "application/json";

  private Requests() {}

  static RequestHead post(String target, String... headers) {
    return RequestHead.of("POST", target, Headers.of(headers));
  }

  /** One byte for each character. */
  static byte[] bytes(String latin) {
    return latin.getBytes(StandardCharsets.ISO_8859_1);
  }

  static Fingerprint of(FingerprintRule rule, RequestHead head, String body) {
    return all(rule, head, bytes(body)).current();
  }

  static Fingerprints all(FingerprintRule rule, RequestHead head, byte[] body) {
    return RequestFingerprinter.create(rule).fingerprint(head, body);
  }

  /** Of a body of that type by the default rule. */
  static Fingerprint typed(String type, byte[] body) {
    return all(FingerprintRule.DEFAULT, post("/", "Content-Type", type), body).current();
  }

  static Fingerprint typed(String type, String body) {
    return typed(type, bytes(body));
  }

  /** Of a body that comes in pieces of some bytes. */
  static Fingerprints streamed(FingerprintRule rule, RequestHead head, String body, boolean anew) {
    Fingerprinter.Running running = RequestFingerprinter.create(rule).begin(head);
    if (anew) {
      running.beginsAnew();
    }
    byte[] whole = bytes(body);
    for (int at = 0; at < whole.length; at += 3) {
      running.add(new ArrayChunk(whole, at, Math.min(whole.length - at, 3)));
    }
    return running.end();
  }
}
