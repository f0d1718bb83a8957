package dev.idempotency.gateway.config;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** Files that are valid, made at random from everything that says whose key which request has. */
final class RandomRoutes {

  /** Texts in which YAML or a careless printer could see something else. */
  private static final List<String> ODD =
      List.of(
          "a",
          "a b",
          " ",
          "true",
          "0x1",
          "~0",
          "#",
          ": ",
          "\"",
          "\\",
          "'",
          "\u00e9",
          "\u00df",
          "\u0085",
          "\u2028",
          "\ufeff",
          "\ud83d\ude00",
          "{",
          "]",
          "%",
          "@",
          "*x",
          "&x",
          "- ");

  private final Random random;
  private final StringBuilder yaml = new StringBuilder();
  private boolean lasting;

  /** Whether the store can tell that it lost records. */
  private boolean forgetful;

  private RandomRoutes(Random random) {
    this.random = random;
  }

  /** A file; secrets are in the variables FINGERPRINT_SECRET and RECORDS_KEY. */
  static String next(Random random) {
    return new RandomRoutes(random).file();
  }

  private String file() {
    yaml.append(
        """
        listen: { address: "a:1", tls: { certificate: server.crt, key: server.key, client-ca: ca.crt } }
        upstreams: { a: { url: "http://127.0.0.1:3000" }, b: { url: "http://127.0.0.1:3001" } }
        trusted-proxies: [10.0.0.0/8]
        """);
    line(0, "discovery", one("true", "false"));
    jwt();
    store();
    top();
    yaml.append("routes:\n");
    for (int i = 0; i <= random.nextInt(3); i++) {
      route(i);
    }
    return yaml.toString();
  }

  private void jwt() {
    boolean url = random.nextBoolean();
    yaml.append("jwt:\n");
    line(2, "keys", url ? "https://idp.example.com/jwks?a=b" : "jwks.json");
    maybe(2, "issuer", quoted(one("https://idp", "it's", "a:b", "#x", "\"q\"")));
    maybe(2, "audience", some("api", "a:b", "\"q\"", "#x", "\\"));
    maybe(2, "algorithms", some("RS256", "ES256", "EdDSA", "PS512"));
    maybe(2, "leeway", one("0s", "1ms", "5m"));
    maybe(2, "refresh", one("1s", "24h", "90s"));
    if (url) {
      maybe(2, "ca", "ca.crt");
    }
  }

  private void store() {
    boolean encrypted = random.nextBoolean();
    yaml.append("store:\n");
    String url =
        one(
            "memory",
            "redis://r:1/2",
            "rediss-sentinel://a,b/0#p",
            "rediss-cluster://a:1,b:2",
            "postgresql://u@a,b:5433/db?sslmode=require&x=y");
    lasting = !url.equals("memory");
    forgetful = url.startsWith("redis");
    line(2, "url", url);
    if (lasting) {
      storeAccess(url);
    }
    maybe(2, "compress", one("0", "1B", "4KiB", "1000B", "1MB"));
    if (encrypted) {
      line(2, "encryption", "{ keys: [{ id: k-2, env: RECORDS_KEY }, { id: K_1, file: k1.key }] }");
    }
    if (encrypted || random.nextBoolean()) {
      line(0, "secret", "{ env: FINGERPRINT_SECRET }");
    }
  }

  private void storeAccess(String url) {
    maybe(2, "password", one("{ env: STORE_PASSWORD }", "{ file: sentinel.password }"));
    maybe(2, "timeout", one("1ms", "1m"));
    if (url.startsWith("postgresql")) {
      maybe(2, "pool", one("1", "1000"));
    } else {
      maybe(2, "checks", one("1s", "24h"));
    }
    if (url.startsWith("rediss")) {
      maybe(
          2,
          "tls",
          one("{}", "{ ca: ca.crt }", "{ certificate: client.crt, key: client.key, ca: ca.crt }"));
    }
    if (url.contains("sentinel")) {
      maybe(2, "sentinel-password", "{ env: STORE_PASSWORD }");
    }
  }

  private void top() {
    maybe(0, "sweep", one("{ every: 100ms }", "{ every: 1h }"));
    maybe(
        0,
        "operators",
        one("{ read: { env: OPS_READ } }", "{ write: { file: ops.write }, bodies: true }"));
    maybe(0, "drain-delay", one("0s", "10m"));
    maybe(0, "limits", one("{ waiters: 0 }", "{ backlog: 3MB, waiters: 7 }"));
  }

  private void route(int number) {
    boolean off = random.nextInt(6) == 0;
    yaml.append("  - name: r").append(number).append('\n');
    line(4, "path", "/r" + number);
    line(4, "upstream", "a");
    line(4, "idempotency", off ? "\"off\"" : one("required", "optional"));
    maybe(4, "listed", one("true", "false"));
    maybe(4, "errors", one("problem", "stripe"));
    cors();
    if (!off) {
      keyed();
    }
  }

  private void keyed() {
    boolean streams = random.nextInt(4) == 0;
    boolean asked = random.nextBoolean();
    maybe(4, "methods", some("POST", "PUT", "PATCH", "DELETE"));
    boolean scoped = scope(asked);
    if (asked) {
      forwardAuth();
    }
    // Everything that goes with an age or a derived key must stay below it.
    line(4, "retention", one("3h", "24h", "3650d"));
    key(streams, scoped);
    fingerprint(streams);
    maybe(4, "quota", one("{ new-keys: 1 }", "{ unfinished: 7 }", "{ new-keys: 9, within: 90s }"));
    maybe(4, "observe", one("true", "false"));
    maybe(4, "in-flight", one("reject", "wait 1ms", "wait 30s"));
    maybe(4, "waiting", one("{ longest: 30s }", "{ per-key: 1, longest: 5m }", "{ per-key: 9 }"));
    safety(streams);
    maybe(4, "outcomes", one("{ 500: released }", "{ 409: unknown, 200: completed }"));
    line(4, "request", "{ mode: " + (streams ? "stream, limit: 1TiB" : "buffer") + " }");
    response();
  }

  private void safety(boolean streams) {
    if (forgetful) {
      maybe(4, "guard", one("0s", "1h"));
    }
    if (lasting) {
      maybe(
          4,
          "durability",
          one(
              "none",
              "disk",
              "{ disk: true, completions: true }",
              "{ replicas: 16 }",
              "{ replicas: 1, completions: true }"));
    }
    if (random.nextBoolean()) {
      return;
    }
    line(4, "unknown", "probe");
    yaml.append("    probe:\n");
    if (streams || random.nextBoolean()) {
      line(6, "url", quoted(one("/{key}", "/a/{key}/b?c={key}&d", "/\\\"/{key}")));
      maybe(6, "upstream", "b");
    } else {
      line(6, "request", "same");
    }
    maybe(6, "timeout", one("10ms", "1m"));
    maybe(6, "completed", one("[200]", "[201, 200, 599]"));
    maybe(6, "never", one("[404]", "[410, 404]"));
    maybe(6, "on-never", one("rerun", "release"));
    maybe(6, "grace", one("0s", "1h"));
    maybe(6, "status", one("200", "599"));
    maybe(6, "headers", one("{ X-A: { env: PROBE } }", "{ \"x!#\": { file: probe.header } }"));
    maybe(6, "back-off", one("10ms", "1m"));
    maybe(6, "longest", one("1m", "24h"));
  }

  private boolean scope(boolean asked) {
    List<String> parts =
        new ArrayList<>(
            List.of(
                "credential",
                "credential:X-Api-Key",
                "header:X-A",
                "header:cookie",
                "jwt:sub",
                "jwt:https://a/b:c",
                "jwt:\"\\",
                "certificate:subject",
                "basic:user"));
    if (asked) {
      parts.add("auth:X-User-Id");
    }
    boolean given = random.nextInt(4) != 0;
    if (given) {
      line(4, "scope", some(parts.toArray(String[]::new)));
    }
    return given;
  }

  private void forwardAuth() {
    yaml.append("    forward-auth:\n");
    line(6, "upstream", "b");
    line(6, "path", quoted(one("/", "/check", "/a\\b", "/\"x\"", "/%20")));
    maybe(6, "timeout", one("1ms", "1m"));
    maybe(6, "cache", one("0s", "1h", "1500ms"));
    maybe(6, "on-failure", one("reject", "allow"));
    maybe(6, "copy", some("X-Granted", "x-b"));
  }

  private void key(boolean streams, boolean scoped) {
    yaml.append("    key:\n");
    String query = "query:a" + text();
    switch (random.nextInt(streams ? 3 : 5)) {
      case 0 -> line(6, "header", "X-Key");
      case 1 -> line(6, "query", quoted(query.substring("query:".length())));
      case 2 -> line(6, "sources", some("header:X-K", query));
      case 3 -> line(6, "pointer", quoted(pointer()));
      default -> line(6, "sources", some("header:X-K", query, "pointer:" + pointer()));
    }
    maybe(6, "syntax", one("lenient", "strict"));
    if (scoped && !streams) {
      maybe(6, "derive", one("1s", "2h", "90s"));
    }
    switch (random.nextInt(4)) {
      case 0 -> {
        line(6, "pattern", one("uuid7", "ulid"));
        line(6, "time-bound", "true");
        maybe(6, "skew", one("0s", "1h", "1ms"));
      }
      case 1 -> {
        maybe(6, "pattern", quoted(one("uuid", "/a\"b/", "/\\d+\\\\/", "/[/#:]{2}/", "/\u00e9/")));
        line(6, "first-sent", "X-First-Sent");
        maybe(6, "skew", one("0s", "1h", "1ms"));
      }
      default -> maybe(6, "pattern", quoted(one("uuid", "ulid", "/a b/", "/\u2028/")));
    }
  }

  private void fingerprint(boolean streams) {
    boolean first = random.nextInt(3) == 0;
    yaml.append("    fingerprint:\n");
    line(6, "version", first ? "1" : "2");
    line(6, "body", streams ? "raw" : "canonical");
    if (!streams) {
      maybe(6, "ignore", some(pointer(), pointer()));
    }
    if (!first) {
      if (!streams) {
        // Nothing that ignore could leave out.
        maybe(6, "only", some("/o" + pointer(), "/p" + pointer()));
      }
      maybe(6, "query", random.nextInt(3) == 0 ? "[]" : some("a" + text(), "b" + text()));
    }
    maybe(6, "headers", some("X-A", "Accept"));
  }

  private void response() {
    yaml.append("    response:\n");
    line(6, "mode", one("buffer", "stream"));
    maybe(6, "keep", some("Set-Cookie", "X-Keep"));
    maybe(6, "drop", some("X-A", "x-b"));
    maybe(6, "redact", some(pointer(), pointer() + "/*/x"));
    maybe(6, "expires", one("true", "false"));
  }

  private void cors() {
    maybe(
        4,
        "cors",
        one(
            "{ origins: [\"*\"] }",
            "{ origins: [\"https://App.example.com:443\", \"app://x\"], credentials: true }",
            "{ origins: [\"http://[::1]:8080\"] }"));
  }

  /** A line break may stand in a member's name, and only there. */
  private String pointer() {
    return '/' + text() + (random.nextInt(3) == 0 ? "/~1~0\n" : "/0") + text().replace("~", "");
  }

  private String text() {
    return ODD.get(random.nextInt(ODD.size())).replace("/", "");
  }

  private String one(String... texts) {
    return texts[random.nextInt(texts.length)];
  }

  /** One or more of them, none twice, in any order. */
  private String some(String... texts) {
    List<String> list = new ArrayList<>(Arrays.stream(texts).distinct().toList());
    Collections.shuffle(list, random);
    return list.subList(0, 1 + random.nextInt(list.size())).stream()
        .map(RandomRoutes::quoted)
        .collect(Collectors.joining(", ", "[", "]"));
  }

  /** As JSON has it, which is YAML as well; what is not ASCII is escaped. */
  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : JsonStringEncoder.getInstance().quoteAsString(text)) {
      if (c < 0x7f) {
        quoted.append(c);
      } else {
        quoted.append(String.format("\\u%04x", (int) c));
      }
    }
    return quoted.append('"').toString();
  }

  private void maybe(int indent, String key, String value) {
    if (random.nextBoolean()) {
      line(indent, key, value);
    }
  }

  private void line(int indent, String key, String value) {
    yaml.append(" ".repeat(indent)).append(key).append(": ").append(value).append('\n');
  }
}
