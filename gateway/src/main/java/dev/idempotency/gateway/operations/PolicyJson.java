package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.KeySource;
import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.ProblemType;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** The document about the gateway for programs. Its member names are a promise. */
final class PolicyJson {

  private final StringBuilder json = new StringBuilder(8_192);

  private PolicyJson() {}

  static String of(List<PolicyRoute> routes) {
    PolicyJson document = new PolicyJson();
    document.json.append('{');
    document.text("specification", Policy.SPECIFICATION);
    document.list("response_headers", Policy.RESPONSE_HEADERS, document::quoted);
    document.list("routes", routes, document::route);
    document.list("errors", ProblemType.all(), document::error);
    return document.json.append("}\n").toString();
  }

  private void route(PolicyRoute route) {
    json.append('{');
    text("name", route.name());
    list("methods", route.methods(), this::quoted);
    text("path", route.path());
    key(route);
    list("scope", route.scopeInWords(), this::quoted);
    member("retention");
    json.append('{');
    text("duration", route.retention().toString());
    text("text", DurationText.of(route.retention()));
    json.append('}');
    inFlight(route);
    member("mismatch");
    json.append("{\"status\":").append(route.style().status("key-reused", 422)).append('}');
    text("unknown_outcome", route.unknown().name().toLowerCase(Locale.ROOT));
    member("maximum_body_bytes").append(route.bodyLimit());
    member("says_when_it_expires").append(route.expires());
    errors(route);
    json.append('}');
  }

  private void key(PolicyRoute route) {
    KeyRule keys = route.keys();
    member("key");
    json.append('{');
    member("required").append(route.required() && keys.derived().isZero());
    list("sources", keys.sources(), this::source);
    text("syntax", route.isStrict() ? "strict" : "lenient");
    text("pattern", keys.pattern().expected());
    String regex = keys.pattern().regex();
    if (regex != null) {
      text("regex", regex);
    }
    member("minimum_length").append(1);
    member("maximum_length").append(IdempotencyKey.MAX_LENGTH);
    KeyRule.KeyAge age = keys.age();
    if (age != null) {
      text("maximum_age", age.retention().toString());
      if (age.firstSent() != null) {
        text("first_sent_header", age.firstSent());
      }
    }
    if (!keys.derived().isZero()) {
      text("derived_for", keys.derived().toString());
    }
    json.append('}');
  }

  private void source(KeySource source) {
    if (source instanceof KeySource.Header header) {
      source("header", header.name());
    } else if (source instanceof KeySource.Query query) {
      source("query", query.name());
    } else if (source instanceof KeySource.Pointer pointer) {
      source("body", pointer.pointer());
    }
  }

  private void source(String in, String name) {
    json.append('{');
    text("in", in);
    text("name", name);
    json.append('}');
  }

  private void inFlight(PolicyRoute route) {
    Duration wait = route.patience();
    member("in_flight");
    json.append('{');
    text("behaviour", wait.isZero() ? "reject" : "wait");
    if (!wait.isZero()) {
      text("wait", wait.toString());
    }
    member("status").append(409);
    json.append('}');
  }

  private void errors(PolicyRoute route) {
    member("errors");
    json.append('{');
    text("style", route.style().name().toLowerCase(Locale.ROOT));
    text("content_type", route.style().contentType());
    list(
        "types",
        route.errors(),
        type -> {
          json.append('{');
          text("type", type.name());
          statuses(
              type.statuses().stream().map(s -> route.style().status(type.name(), s)).toList());
          json.append('}');
        });
    json.append('}');
  }

  private void error(ProblemType type) {
    json.append('{');
    text("type", type.name());
    statuses(type.statuses());
    text("title", type.title());
    text("meaning", type.meaning());
    text("advice", type.advice());
    text("documentation", ProblemDetails.PAGE + '#' + type.name());
    json.append('}');
  }

  private void statuses(List<Integer> statuses) {
    list("statuses", statuses, json::append);
  }

  // ---- the grammar

  private StringBuilder member(String name) {
    separate();
    quoted(name);
    return json.append(':');
  }

  private void text(String name, String value) {
    member(name);
    quoted(value);
  }

  private <T> void list(String name, List<T> elements, Consumer<T> writer) {
    member(name);
    json.append('[');
    for (T element : elements) {
      separate();
      writer.accept(element);
    }
    json.append(']');
  }

  private void quoted(String text) {
    JsonText.quote(json, text);
  }

  private void separate() {
    char last = json.charAt(json.length() - 1);
    if (last != '{' && last != '[') {
      json.append(',');
    }
  }
}
