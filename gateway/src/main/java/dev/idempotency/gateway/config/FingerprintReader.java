package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Fingerprinting.Body;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads what tells a retry from a reuse of the key. */
final class FingerprintReader {

  private static final Fingerprinting DEFAULTS = Defaults.FINGERPRINT;
  private static final Format<Body> BODY = Formats.choice(Body.class, "");

  private final Section fingerprint;
  private final Problems problems;

  FingerprintReader(Section fingerprint, Problems problems) {
    this.fingerprint = fingerprint;
    this.problems = problems;
  }

  Fingerprinting read() {
    Body body = fingerprint.get("body", BODY, DEFAULTS.body());
    List<String> ignore = members("ignore", body, DEFAULTS.ignore());
    List<String> only = members("only", body, DEFAULTS.only());
    lookApart(only, ignore);
    List<String> headers = fingerprint.list("headers", Formats.HEADER).orElse(DEFAULTS.headers());
    @Nullable List<String> query =
        fingerprint.listOrNone("query", IdentityFormats.PARAMETER).orElse(DEFAULTS.query());
    int version = fingerprint.get("version", Formats.integer(1, 2), DEFAULTS.version());
    for (String later : List.of("only", "query")) {
      if (version == 1 && fingerprint.has(later)) {
        problems.add(
            fingerprint.path(later),
            "given beside version: 1",
            "none, or version: 2 which knows it");
      }
    }
    return new Fingerprinting(body, ignore, only, headers, query, version);
  }

  /** What alone counts must be able to. */
  private void lookApart(List<String> only, List<String> ignore) {
    for (int i = 0; i < only.size(); i++) {
      String chosen = only.get(i);
      for (String ignored : ignore) {
        if (chosen.equals(ignored) || chosen.startsWith(ignored + '/')) {
          problems.add(
              fingerprint.path("only") + '[' + i + ']',
              chosen,
              "what ignore does not leave out, as it does with " + ignored);
          break;
        }
      }
    }
  }

  /** Bytes as they came have no members. */
  private List<String> members(String key, Body body, List<String> byDefault) {
    if (body == Body.RAW && fingerprint.has(key)) {
      problems.add(fingerprint.path(key), "given beside body: raw", "none, or body: canonical");
    }
    return fingerprint.list(key, Formats.POINTER).orElse(byDefault);
  }
}
