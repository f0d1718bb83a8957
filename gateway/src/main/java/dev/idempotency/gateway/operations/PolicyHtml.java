package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.KeySource;
import dev.idempotency.gateway.http.ProblemType;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.KeyPattern;
import java.util.List;
import java.util.stream.Collectors;

/** The document about the gateway for people: one page that needs nothing from elsewhere. */
final class PolicyHtml {

  private static final String STYLE =
      "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
          + "h2{margin-top:2em}h3{font-size:1em;margin-top:1.5em}"
          + "code{background:#8882;padding:0 .2em}"
          + "th{text-align:left;vertical-align:top;padding-right:1em;font-weight:600}"
          + "table{border-collapse:collapse;margin-bottom:1.5em}td,th{border-top:1px solid #8884}";

  private final StringBuilder html = new StringBuilder(16_384);

  private PolicyHtml() {}

  static String of(List<PolicyRoute> routes) {
    PolicyHtml page = new PolicyHtml();
    page.head();
    page.html.append("<h2>Operations</h2>\n");
    if (routes.isEmpty()) {
      page.html.append("<p>None is listed.</p>\n");
    }
    routes.forEach(page::route);
    page.html.append(
        "<h2>Errors</h2>\n<p>These answers come from the gateway itself. Where there is a"
            + " <code>Retry-After</code>, the same request with the same key can succeed after that"
            + " many seconds.</p>\n");
    ProblemType.all().forEach(page::error);
    return page.html.append("</body>\n</html>\n").toString();
  }

  private void head() {
    html.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.append("<title>Idempotency Gateway: which requests are safe to retry</title>\n");
    html.append("<style>").append(STYLE).append("</style>\n</head>\n<body>\n");
    html.append("<h1>Which requests are safe to retry</h1>\n<p>Send a key that is new for each");
    html.append(" operation (a UUID is right) and the same for each retry of it. The operation is");
    html.append(" run once; a retry gets the stored answer, marked ");
    html.append("<code>Idempotent-Replayed: true</code>. The keys follow ");
    html.append("<code>").append(Policy.SPECIFICATION).append("</code>.</p>\n");
    html.append("<p>The gateway adds these header fields: ");
    html.append(
        Policy.RESPONSE_HEADERS.stream()
            .map(name -> "<code>" + name + "</code>")
            .collect(Collectors.joining(", ")));
    html.append(".</p>\n");
  }

  private void route(PolicyRoute route) {
    html.append("<h3>").append(escaped(route.name())).append("</h3>\n<table>\n");
    row("Requests", code(String.join(", ", route.methods())) + ' ' + code(route.path()));
    row("Key", key(route));
    row("Belongs to", escaped(String.join("; ", route.scopeInWords())));
    row("Answers are replayed for", DurationText.of(route.retention()));
    row(
        "A retry of a request in flight",
        (route.patience().isZero()
                ? "is answered "
                : "waits for up to " + DurationText.of(route.patience()) + ", then ")
            + link("request-in-flight", 409));
    row("The key of another request", link("key-reused", route.style().status("key-reused", 422)));
    row(
        "Where the outcome is unknown",
        switch (route.unknown()) {
          case HOLD -> "retries are answered " + link("outcome-unknown", 409);
          case RETRY -> "a retry is executed: the service recognises keys itself";
          case PROBE ->
              "the service is asked what happened; while nobody knows, retries are answered "
                  + link("outcome-unknown", 409);
        });
    row("Largest body", route.bodyLimit() + " bytes");
    row("Errors", code(route.style().contentType()));
    html.append("</table>\n");
  }

  private static String key(PolicyRoute route) {
    KeyRule keys = route.keys();
    StringBuilder text = new StringBuilder();
    text.append(route.required() && keys.derived().isZero() ? "required" : "optional").append(", ");
    text.append(
        keys.sources().stream()
            .map(KeySource::place)
            .map(PolicyHtml::escaped)
            .collect(Collectors.joining(", or ")));
    text.append("; ").append(escaped(keys.pattern().expected()));
    if (keys.pattern() == KeyPattern.ANY) {
      text.append(" of 1 to ").append(IdempotencyKey.MAX_LENGTH).append(" characters");
    }
    text.append(route.isStrict() ? ", as a quoted string" : "");
    KeyRule.KeyAge age = keys.age();
    if (age != null) {
      text.append("; good for ").append(DurationText.of(age.retention())).append(" from ");
      text.append(
          age.firstSent() == null
              ? "the time in it"
              : "the time in the header " + escaped(age.firstSent()));
    }
    if (!keys.derived().isZero()) {
      text.append("; equal requests without a key within ");
      text.append(DurationText.of(keys.derived())).append(" are one operation");
    }
    return text.toString();
  }

  private void error(ProblemType type) {
    html.append("<h3 id=\"").append(type.name()).append("\">");
    html.append(type.statuses().stream().map(String::valueOf).collect(Collectors.joining(", ")));
    html.append(' ').append(type.name()).append("</h3>\n<p>").append(escaped(type.meaning()));
    html.append(' ').append(escaped(type.advice())).append("</p>\n");
  }

  private void row(String name, String value) {
    html.append("<tr><th scope=\"row\">").append(name).append("</th><td>");
    html.append(value).append("</td></tr>\n");
  }

  private static String code(String text) {
    return "<code>" + escaped(text) + "</code>";
  }

  private static String link(String type, int status) {
    return "<a href=\"#" + type + "\">" + status + ' ' + type + "</a>";
  }

  /** Text that is nothing but text, also within a quoted attribute. */
  static String escaped(String text) {
    StringBuilder safe = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '<' -> safe.append("&lt;");
        case '>' -> safe.append("&gt;");
        case '&' -> safe.append("&amp;");
        case '"' -> safe.append("&quot;");
        case '\'' -> safe.append("&#39;");
        default -> safe.append(c);
      }
    }
    return safe.toString();
  }
}
