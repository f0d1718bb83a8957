package dev.idempotency.gateway.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/** Files with one problem each. */
final class BadFiles {

  /**
   * A file and what is wrong with it.
   *
   * @param problem the exact text
   * @param schema whether a JSON Schema can say it too
   */
  record BadFile(String yaml, String problem, boolean schema) {
    @Override
    public String toString() {
      return problem;
    }
  }

  private static final List<String> REFERENCES =
      List.of(
          "server.crt",
          "server.key",
          "clients.crt",
          "ca.crt",
          "client.crt",
          "client.key",
          "jwks.json",
          "tls/gateway.crt",
          "tls/gateway.key",
          "tls/clients.crt",
          "tls/upstreams.crt",
          "tls/client.crt",
          "tls/client.key",
          "tls/idp.crt",
          "tls/redis-ca.crt");

  /** 32 bytes each. */
  static final String RECORDS_KEY = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";

  static final String OLD_KEY = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

  static final String MINIMAL =
      """
      upstreams: { a: { url: "http://127.0.0.1:3000" } }
      routes: [{ name: x, path: /x, upstream: a }]
      """;

  private BadFiles() {}

  /** Puts the files into a folder that the configurations of these tests refer to. */
  static void writeReferences(Path folder) {
    try {
      for (String name : REFERENCES) {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "looked at by those who speak TLS only\n");
      }
      Files.writeString(folder.resolve("old.secret"), "an-older-secret-of-a-file\n");
      Files.writeString(folder.resolve("k1.key"), OLD_KEY + "\n");
      Files.writeString(folder.resolve("sentinel.password"), "look-only\n");
      Files.writeString(folder.resolve("ops.write"), "a-token-that-writes\n");
      Files.writeString(folder.resolve("probe.header"), "from a file\n");
      Path secrets = Files.createDirectories(folder.resolve("secrets"));
      Files.writeString(secrets.resolve("records-old.key"), OLD_KEY + "\n");
      Files.writeString(secrets.resolve("fingerprint-old"), "an-older-secret-of-a-file\n");
      Files.writeString(
          folder.resolve("short.key"), Base64.getEncoder().encodeToString(new byte[31]));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The smallest file with one more line at the top. */
  static String top(String line) {
    return MINIMAL + line + "\n";
  }

  /** A file whose only route has one more member. */
  static String route(String member) {
    return "upstreams: { a: { url: \"http://127.0.0.1:3000\" } }\n"
        + "routes: [{ name: x, path: /x, upstream: a, "
        + member
        + " }]\n";
  }

  private static String upstream(String member) {
    return "upstreams: { a: { url: \"http://127.0.0.1:3000\", "
        + member
        + " } }\nroutes: [{ name: x, path: /x, upstream: a }]\n";
  }

  private static String path(String path) {
    return "upstreams: { a: { url: \"http://127.0.0.1:3000\" } }\n"
        + "routes: [{ name: x, path: \""
        + path
        + "\", upstream: a }]\n";
  }

  static BadFile both(String yaml, String problem) {
    return new BadFile(yaml, problem, true);
  }

  static BadFile readerOnly(String yaml, String problem) {
    return new BadFile(yaml, problem, false);
  }

  static Stream<BadFile> all() {
    return Stream.of(
            syntax(),
            top(),
            edges(),
            listeners(),
            upstreams(),
            places(),
            routes(),
            modes(),
            references(),
            BadIdentityFiles.all(),
            BadStoreFiles.all())
        .flatMap(files -> files);
  }

  private static Stream<BadFile> syntax() {
    return Stream.of(
        readerOnly("", "the file is empty (expected: at least upstreams and routes)"),
        readerOnly("# words\n", "the file is empty (expected: at least upstreams and routes)"),
        readerOnly("a: [1\nb: 2\n", "line 2, column 2: expected ',' or ']', but got :"),
        readerOnly(
            "a:\n\t- b\n",
            "line 2, column 1: found character '\\t(TAB)' that cannot start any token. (Do not use"
                + " \\t(TAB) for indentation)"),
        readerOnly("a: 1\nb: \u0001\n", "line 2, column 4: a character that YAML does not allow"),
        readerOnly("secret: \"hunter2", "line 1, column 17: found unexpected end of stream"),
        readerOnly(MINIMAL + "---\na: 1\n", "line 3, column 1: but found another document"),
        readerOnly(top("drain: *x"), "line 3, column 8: found undefined alias x"),
        readerOnly(
            top("drain: 1s\ndrain: 2s"), "drain: given twice, again in line 4 (expected: once)"),
        readerOnly(top("[a]: 1s"), "the file: a list or mapping as a key (expected: a word)"));
  }

  private static Stream<BadFile> top() {
    String listen = " (expected: HOST:PORT such as 127.0.0.1:8080 or [::1]:8080, port 0 to 65535)";
    String store = " (expected: " + BadStoreFiles.EXPECTED + ")";
    String secret = " (expected: 16 characters or more, or { env: NAME } or { file: PATH })";
    return Stream.of(
        both(top("listen: localhost"), "listen: localhost" + listen),
        both(top("listen: 8080"), "listen: 8080" + listen),
        both(top("listen: ::1:80"), "listen: ::1:80" + listen),
        readerOnly(top("admin: a:65536"), "admin: a:65536" + listen),
        both(top("admin: [a]"), "admin: a list" + listen),
        both(top("store: redis"), "store: redis" + store),
        both(top("store: http://me:hunter2@redis"), "store: http://***@redis" + store),
        both(top("store: redis://u:p@q@r"), "store: redis://***@r" + store),
        both(top("store: redis://my_redis"), "store: redis://my_redis" + store),
        both(top("store: redis-sentinel://a,b"), "store: redis-sentinel://a,b" + store),
        both(
            top("store: { url: memory, timeout: 1s }"),
            "store.timeout: unknown key (expected: url, max-bytes, compress or encryption)"),
        both(top("store: { url: redis }"), "store.url: redis" + store),
        both(top("drain: -1s"), "drain: -1s (expected: a duration such as 25s)"),
        readerOnly(top("drain: 2h"), "drain: 2h (expected: at most 1h)"),
        both(top("threads: 0"), "threads: 0 (expected: a whole number from 1 to 1024)"),
        both(
            top("threads: \"2\""),
            "threads: 2 (expected: a whole number from 1 to 1024, without quotes)"),
        both(top("secret: hunter2"), "secret: ***" + secret),
        both(
            top("secret: 12345678901234567"),
            "secret: ***" + secret.replace("})", "}, in quotes)")),
        both(top("secret: {}"), "secret: a mapping" + secret),
        both(top("limits: [a]"), "limits: a list (expected: a mapping of keys to values)"),
        both(top("limits:"), "limits: nothing (expected: a mapping of keys to values)"),
        both(
            top("limits: { boddy-budget: 1MiB }"),
            "limits.boddy-budget: unknown key (did you mean body-budget?)"),
        both(top("log: { colour: red }"), "log.colour: unknown key (expected: format or access)"),
        both(
            top("limits: { body-budget: 1 }"),
            "limits.body-budget: 1 (expected: a size > 0 such as 64MiB)"),
        readerOnly(
            top("limits: { header-size: 2MiB }"),
            "limits.header-size: 2MiB (expected: at most 1MiB)"),
        both(
            top("limits: { idle-timeout: 0s }"),
            "limits.idle-timeout: 0s (expected: a duration > 0 such as 10s)"),
        both(top("log: { format: xml }"), "log.format: xml (expected: text or json)"),
        both(top("log: { access: yes }"), "log.access: yes (expected: true or false)"),
        both(
            top("log: { access: \"true\" }"),
            "log.access: true (expected: true or false, without quotes)"));
  }

  private static Stream<BadFile> edges() {
    String range =
        " (expected: an address or a range such as ::1 or 10.0.0.0/8, no bits set behind the"
            + " length)";
    String host =
        " (expected: a host such as api.example.com or [::1], without a port; no wildcards)";
    return Stream.of(
        both(top("trusted-proxies: [proxy]"), "trusted-proxies[0]: proxy" + range),
        readerOnly(top("trusted-proxies: [10.0.0.1/8]"), "trusted-proxies[0]: 10.0.0.1/8" + range),
        readerOnly(
            top("trusted-proxies: [\"::1\", \"::/129\"]"), "trusted-proxies[1]: ::/129" + range),
        both(
            top("trusted-proxies: []"),
            "trusted-proxies: an empty list (expected: a list of at least one"
                + range.substring(" (expected:".length())),
        both(top("hosts: [\"*.example.com\"]"), "hosts[0]: *.example.com" + host),
        both(top("hosts: [a, \"a:80\"]"), "hosts[1]: a:80" + host),
        both(
            top("hosts: api.example.com"),
            "hosts: api.example.com (expected: a list of at least one"
                + host.substring(" (expected:".length())),
        both(
            top("paths: { semicolon: allow }"),
            "paths.semicolon: allow (expected: reject or keep)"),
        both(
            top("paths: { empty-segments: keep }"),
            "paths.empty-segments: unknown key (did you mean empty-segment?)"),
        readerOnly(
            top("limits: { target-size: 512B }"),
            "limits.target-size: 512B (expected: a size of at least 1KiB such as 8KiB)"),
        both(
            top("limits: { connections-per-address: -1 }"),
            "limits.connections-per-address: -1 (expected: a whole number from 0 to 1000000)"),
        both(
            top("limits: { body-rate: 100 }"),
            "limits.body-rate: 100 (expected: a size > 0 such as 240B, or 0 for none)"),
        readerOnly(
            top("limits: { tunnel-timeout: 1ms }"),
            "limits.tunnel-timeout: 1ms (expected: a duration of at least 1s such as 1h)"),
        readerOnly(
            top("limits: { body-rate: 1TiB }"),
            "limits.body-rate: 1TiB (expected: at most 1GiB, or 0 for none)"),
        both(
            top("limits: { http2-streams: 0 }"),
            "limits.http2-streams: 0 (expected: a whole number from 1 to 1000)"),
        readerOnly(
            top("limits: { http2-window: 1KiB }"),
            "limits.http2-window: 1KiB (expected: a size of at least 64KiB such as 64KiB)"),
        both(
            top("limits: { http2-resets: 10001 }"),
            "limits.http2-resets: 10001 (expected: a whole number from 1 to 10000)"));
  }

  private static String tls(String members) {
    return top("listen: { address: \"a:1\", tls: { " + members + " } }");
  }

  private static Stream<BadFile> listeners() {
    String place = " (expected: HOST:PORT such as 127.0.0.1:8080 or [::1]:8080, port 0 to 65535)";
    String files = "certificate: server.crt, key: server.key, ";
    return Stream.of(
        both(
            top("listen: []"),
            "listen: an empty list (expected: a list of at least one"
                + place.substring(" (expected:".length())),
        both(top("listen: [\"a:1\", a]"), "listen[1]: a" + place),
        both(top("listen: { address: a }"), "listen.address: a" + place),
        both(top("listen: {}"), "listen.address: missing" + place),
        both(
            top("listen: [{ address: \"a:1\", http3: true }]"),
            "listen[0].http3: unknown key (did you mean http2?)"),
        both(tls("key: server.key"), "listen.tls.certificate: missing (expected: a PEM file)"),
        both(tls("certificate: server.crt"), "listen.tls.key: missing (expected: a PEM file)"),
        readerOnly(
            tls("certificate: none.crt, key: server.key"),
            "listen.tls.certificate: none.crt does not exist (expected: a file that can be read)"),
        both(
            tls(files + "client-certificate: optional"),
            "listen.tls.client-certificate: optional (expected: client-ca beside it, the"
                + " authorities that sign clients' certificates)"),
        both(
            tls(files + "protocols: [TLSv1.3, TLSv1.1]"),
            "listen.tls.protocols[1]: TLSv1.1 (expected: TLSv1.3 or TLSv1.2)"),
        readerOnly(
            tls(files + "reload: 10ms"),
            "listen.tls.reload: 10ms (expected: a duration of at least 100ms such as 10s)"),
        readerOnly(
            top("listen: [\"a:1\", \"b:1\", { address: \"A:1\" }]"),
            "listen[2]: A:1 (expected: another place than listen[0])"),
        readerOnly(
            top("listen: 127.0.0.1:9090"),
            "admin: 127.0.0.1:9090 (expected: another place than listen)"),
        readerOnly(
            top("listen: [\"a:1\", \"b:1\"]\nadmin: b:1"),
            "admin: b:1 (expected: another place than listen[1])"));
  }

  private static String places(String members) {
    return "upstreams: { a: { " + members + " } }\n" + ROUTES;
  }

  private static Stream<BadFile> places() {
    return Stream.of(
        both(
            places("url: \"http://a\", urls: [\"http://b\"]"),
            "upstreams.a.urls: given beside url (expected: one of url and urls)"),
        readerOnly(
            places("urls: [\"http://a\", \"https://b\"]"),
            "upstreams.a.urls: http and https (expected: one scheme for all)"),
        both(
            places("urls: [\"http://a\", \"http://a\"]"),
            "upstreams.a.urls: http://a:80 twice (expected: each address once)"),
        readerOnly(
            places("url: \"http://a\", tls: { ca: ca.crt }"),
            "upstreams.a.tls: a mapping (expected: none, as the URL is not https)"),
        both(
            places("url: \"https://a\", tls: { certificate: client.crt }"),
            "upstreams.a.tls.key: missing (expected: certificate and key, or none of them)"),
        both(
            places("url: \"https://a\", tls: { key: client.key }"),
            "upstreams.a.tls.certificate: missing (expected: certificate and key, or none of"
                + " them)"),
        readerOnly(
            places("url: \"https://a\", tls: { ca: none/ca.crt }"),
            "upstreams.a.tls.ca: none/ca.crt does not exist (expected: a file that can be read)"),
        both(
            places("url: \"https://a\", tls: { server-name: 10.0.0.1 }"),
            "upstreams.a.tls.server-name: 10.0.0.1 (expected: a host name such as orders.internal,"
                + " no address)"),
        both(
            places("url: \"https://a\", tls: { verify: false }"),
            "upstreams.a.tls.verify: unknown key (expected: ca, certificate, key or server-name)"),
        readerOnly(
            upstream("connection-life: 25h"),
            "upstreams.a.connection-life: 25h (expected: at most 24h)"),
        readerOnly(
            upstream("resolve: 10ms"),
            "upstreams.a.resolve: 10ms (expected: a duration of at least 1s such as 30s)"),
        both(
            upstream("ejection: { failures: -1 }"),
            "upstreams.a.ejection.failures: -1 (expected: a whole number from 0 to 1000)"),
        both(
            upstream("health-check: { interval: 5s }"),
            "upstreams.a.health-check.path: missing (expected: a path such as /healthz, with a"
                + " query or without)"),
        readerOnly(
            upstream("health-check: { path: /, interval: 1s, timeout: 2s }"),
            "upstreams.a.health-check.timeout: 2s (expected: at most the interval, which is 1s)"));
  }

  private static Stream<BadFile> modes() {
    return Stream.of(
        both(
            route("request: { mode: stream }"),
            "routes[0].request.mode: stream (expected: buffer, or fingerprint: { body: raw } in"
                + " this route)"),
        both(
            route("fingerprint: { body: raw, ignore: [/a] }"),
            "routes[0].fingerprint.ignore: given beside body: raw (expected: none, or body:"
                + " canonical)"),
        both(
            route("fingerprint: { body: row }"),
            "routes[0].fingerprint.body: row (expected: canonical or raw)"),
        readerOnly(
            route("fingerprint: { body: raw }, request: { mode: stream, limit: 2TiB }"),
            "routes[0].request.limit: 2TiB (expected: at most 1TiB)"),
        both(
            route("upgrade: [websocket]"),
            "routes[0].upgrade: in a route with idempotency: optional (expected: idempotency:"
                + " off)"),
        both(
            route("idempotency: off, upgrade: [h2c]"),
            "routes[0].upgrade[0]: h2c (expected: websocket)"),
        readerOnly(
            route("idempotency: off, methods: [POST], upgrade: [websocket]"),
            "routes[0].upgrade: in a route without GET (expected: GET among its methods, as"
                + " WebSockets begin with one)"),
        readerOnly(
            "upstreams: { a: { url: \"http://a\", http2: true } }\n"
                + "routes: [{ name: x, path: /x, upstream: a, idempotency: off, upgrade:"
                + " [websocket] }]\n",
            "routes[0].upgrade: websocket (expected: an upstream without http2, which a has: only"
                + " HTTP/1.1 upgrades)"),
        readerOnly(
            route("scope: [\"certificate:subject\"]"),
            "routes[0].scope: certificate:subject (expected: a listener whose tls has client-ca)"));
  }

  private static Stream<BadFile> upstreams() {
    String url =
        " (expected: a URL such as http://127.0.0.1:3000 or https://orders.internal, without a"
            + " path)";
    return Stream.of(
        both("upstreams: { a: { url: \"ftp://a\" } }\n" + ROUTES, "upstreams.a.url: ftp://a" + url),
        both(
            "upstreams: { a: { url: \"http://a/b\" } }\n" + ROUTES,
            "upstreams.a.url: http://a/b" + url),
        both(
            "upstreams: { a: { url: \"http://u:pw@a\" } }\n" + ROUTES,
            "upstreams.a.url: http://***@a" + url),
        both("upstreams: { a: {} }\n" + ROUTES, "upstreams.a.url: missing" + url),
        both(
            upstream("max-connections: 0"),
            "upstreams.a.max-connections: 0 (expected: a whole number from 1 to 65535)"),
        readerOnly(
            upstream("response-timeout: 25h"),
            "upstreams.a.response-timeout: 25h (expected: at most 24h)"),
        both(
            upstream("conect-timeout: 1s"),
            "upstreams.a.conect-timeout: unknown key (did you mean connect-timeout?)"));
  }

  static final String ROUTES = "routes: [{ name: x, path: /x, upstream: a }]\n";

  private static Stream<BadFile> routes() {
    String methods =
        " (expected: POST, PUT, PATCH or DELETE; others are never keyed: give them a route that"
            + " says idempotency: off)";
    String header = " (expected: the name of an end-to-end header field such as X-Request-Id)";
    String pathExpected = " (expected: " + PathSyntax.EXPECTED + ")";
    return Stream.of(
        both(
            "upstreams: { a: { url: \"http://a\" } }\n",
            "routes: missing (expected: a list of at least one route)"),
        both(
            "upstreams: { a: { url: \"http://a\" } }\nroutes: []\n",
            "routes: an empty list (expected: a list of at least one route)"),
        both(path("orders"), "routes[0].path: orders" + pathExpected),
        both(path("/a/**/b"), "routes[0].path: /a/**/b" + pathExpected),
        both(path("/a//b"), "routes[0].path: /a//b" + pathExpected),
        both(path("/a*"), "routes[0].path: /a*" + pathExpected),
        both(path("/{a"), "routes[0].path: /{a" + pathExpected),
        both(path("/a?b=c"), "routes[0].path: /a?b=c" + pathExpected),
        readerOnly(path("/{a}/{a}"), "routes[0].path: /{a}/{a}" + pathExpected),
        readerOnly(path("/a/../b"), "routes[0].path: /a/../b" + pathExpected),
        both(route("methods: [GET]"), "routes[0].methods[0]: GET" + methods),
        both(route("methods: [POST, post]"), "routes[0].methods[1]: post" + methods),
        both(
            route("methods: []"),
            "routes[0].methods: an empty list (expected: a list of at least one POST, PUT, PATCH or"
                + " DELETE; others are never keyed: give them a route that says idempotency: off)"),
        both(
            route("idempotency: requird"),
            "routes[0].idempotency: requird (expected: required, optional or off)"),
        both(route("key: {}"), "routes[0].key: empty (expected: { header: Idempotency-Key })"),
        both(route("key: { header: a b }"), "routes[0].key.header: a b" + header),
        both(route("key: { header: Connection }"), "routes[0].key.header: Connection" + header),
        both(
            route("fingerprint: { ignore: [sent_at] }"),
            "routes[0].fingerprint.ignore[0]: sent_at (expected: a JSON pointer (RFC 6901) such as"
                + " /metadata/sent_at)"),
        both(
            route("lease: -3s"),
            "routes[0].lease: -3s (expected: a duration of at least 100ms such as 10s)"),
        readerOnly(
            route("lease: 99ms"),
            "routes[0].lease: 99ms (expected: a duration of at least 100ms such as 10s)"),
        both(
            route("in-flight: wait"),
            "routes[0].in-flight: wait (expected: reject, or wait and a duration > 0 such as 5s)"),
        readerOnly(
            route("in-flight: wait 1h"),
            "routes[0].in-flight: wait 1h (expected: reject, or wait and at most 5m)"),
        both(route("unknown: ask"), "routes[0].unknown: ask (expected: hold, retry or probe)"),
        both(
            route("store-outage: ignore"),
            "routes[0].store-outage: ignore (expected: reject or bypass)"),
        both(
            route("outcomes: { 500: kept }"),
            "routes[0].outcomes.500: kept (expected: completed, released or unknown)"),
        both(
            route("outcomes: { 100: completed }"),
            "routes[0].outcomes.100: no status (expected: a final status from 200 to 599)"),
        readerOnly(
            route("request: { limit: 2GiB }"),
            "routes[0].request.limit: 2GiB (expected: at most 1GiB)"),
        both(
            route("response: { mode: chunked }"),
            "routes[0].response.mode: chunked (expected: buffer or stream)"),
        both(
            route("retention-time: 1h"),
            "routes[0].retention-time: unknown key (did you mean retention?)"),
        readerOnly(
            route("lease: !duration 1s"),
            "routes[0].lease: a value with the tag !duration (expected: a duration of at least"
                + " 100ms such as 10s)"));
  }

  private static Stream<BadFile> references() {
    return Stream.of(
        readerOnly(
            """
            upstreams: { a: { url: "http://a" } }
            routes: [{ name: x, path: /x, upstream: b }]
            """,
            "routes[0].upstream: b (expected: one of the upstreams: a)"),
        both(
            """
            upstreams: { a: { url: "http://a" } }
            routes: [{ name: x, path: /x }]
            """,
            "routes[0].upstream: missing (expected: one of the upstreams: a)"),
        readerOnly(
            """
            upstreams: { a: { url: "http://a" } }
            routes: [{ name: x, path: /x, upstream: a }, { name: x, path: /y, upstream: a }]
            """,
            "routes[1].name: x (expected: a name that no other route has)"),
        readerOnly(
            route("retention: 5s"),
            "routes[0].retention: 5s (expected: at least the lease, which is 10s)"),
        readerOnly(
            top("limits: { body-budget: 1KiB }"),
            "limits.body-budget: 1KiB (expected: at least the request.limit of route x, which is"
                + " 1MiB)"));
  }
}
