package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields by which a browser lets pages of other origins read answers (Fetch standard, §3.3).
 */
final class CrossOrigin {

  static final String ALLOW_ORIGIN = "Access-Control-Allow-Origin";
  private static final String ALLOW_CREDENTIALS = "Access-Control-Allow-Credentials";
  private static final String EXPOSE = "Access-Control-Expose-Headers";
  private static final String PREFIX = "Access-Control-";

  /** What the gateway adds to answers and a page could want to read. */
  private static final List<String> OWN_FIELDS =
      List.of(
          ResponseFields.REPLAYED,
          ResponseFields.DERIVED,
          ResponseFields.EXPIRES,
          ResponseFields.ORIGINAL_TRACE,
          ResponseFields.BYPASSED,
          ResponseFields.REDACTED,
          "Retry-After",
          "Link");

  private CrossOrigin() {}

  /** Lets the page that asks read the answer, where the rule has its origin. */
  static void allow(AnswerRule.Cors rule, Headers request, Headers answer) {
    boolean forAll = rule.origins().contains("*");
    if (forAll && !rule.credentials()) {
      answer.set(ALLOW_ORIGIN, "*");
      return;
    }
    // Also where there is no permission: a cache must not give that answer to another page.
    vary(answer);
    String origin = request.get("Origin");
    if (origin != null && (forAll || rule.origins().contains(origin))) {
      answer.set(ALLOW_ORIGIN, origin);
      if (rule.credentials()) {
        answer.set(ALLOW_CREDENTIALS, "true");
      }
    }
  }

  private static void vary(Headers answer) {
    if (!answer.containsToken("Vary", "Origin") && !answer.containsToken("Vary", "*")) {
      answer.add("Vary", "Origin");
    }
  }

  /** Takes the permission of another origin away, and gives this one's where there is a rule. */
  static void readdress(AnswerRule.@Nullable Cors rule, Headers answer, Headers request) {
    String exposed = rule == null ? null : answer.get(EXPOSE);
    answer.removeIf((name, value) -> name.regionMatches(true, 0, PREFIX, 0, PREFIX.length()));
    if (rule == null) {
      return;
    }
    allow(rule, request, answer);
    if (exposed != null && answer.contains(ALLOW_ORIGIN)) {
      answer.add(EXPOSE, exposed);
    }
  }

  /** Adds the gateway's fields to those that a page which may read the answer may read. */
  static void expose(Headers answer) {
    if (!answer.contains(ALLOW_ORIGIN)) {
      return;
    }
    // With credentials the wildcard is a name like others, and no field has it.
    boolean all =
        answer.containsToken(EXPOSE, "*") && !answer.containsToken(ALLOW_CREDENTIALS, "true");
    if (all) {
      return;
    }
    StringBuilder list = new StringBuilder(String.join(", ", answer.all(EXPOSE)));
    for (String name : OWN_FIELDS) {
      if (!answer.containsToken(EXPOSE, name)) {
        list.append(list.isEmpty() ? "" : ", ").append(name);
      }
    }
    answer.set(EXPOSE, list.toString());
  }
}
