package dev.idempotency.gateway.config;

import static dev.idempotency.gateway.config.BadFiles.both;
import static dev.idempotency.gateway.config.BadFiles.readerOnly;
import static dev.idempotency.gateway.config.BadFiles.route;
import static dev.idempotency.gateway.config.BadFiles.top;

import dev.idempotency.gateway.config.BadFiles.BadFile;
import java.util.stream.Stream;

/** Files with one problem each, about stores, what keeps records and who resolves operations. */
final class BadStoreFiles {

  static final String EXPECTED =
      "memory, or a URL such as redis://127.0.0.1:6379, redis-sentinel://host1,host2/0#primary,"
          + " redis-cluster://host1:7000,host2:7000 (rediss://, rediss-sentinel://,"
          + " rediss-cluster:// for TLS) or postgresql://user@host:5432/database";

  private static final String OUTSIDE = " (expected: { env: NAME } or { file: PATH })";

  private BadStoreFiles() {}

  private static String store(String members) {
    return top("store: { " + members + " }");
  }

  /** A route with one more member, in a file whose store keeps records. */
  private static String kept(String member) {
    return route(member) + "store: redis://r\n";
  }

  private static String probe(String members) {
    return route("unknown: probe, probe: { " + members + " }");
  }

  static Stream<BadFile> all() {
    return Stream.of(stores(), access(), outermost(), durability(), waiting(), probes())
        .flatMap(files -> files);
  }

  private static Stream<BadFile> stores() {
    String expected = " (expected: " + EXPECTED + ")";
    return Stream.of(
        both(top("store: mysql://a/b"), "store: mysql://a/b" + expected),
        both(top("store: redis-cluster://"), "store: redis-cluster://" + expected),
        both(top("store: redis-cluster://a,b/1"), "store: redis-cluster://a,b/1" + expected),
        both(top("store: postgresql://a"), "store: postgresql://a" + expected),
        both(top("store: postgres://a/b"), "store: postgres://a/b" + expected),
        both(
            top("store: postgresql://a/b?sslmode=require&password=hunter2"),
            "store: postgresql://a/b?***" + expected),
        both(
            store("url: memory, password: { env: STORE_PASSWORD }"),
            "store.password: unknown key (expected: url, max-bytes, compress or encryption)"),
        both(
            store("url: \"redis://a\", pool: 3"),
            "store.pool: unknown key (expected: url, user, password, timeout, prefix, checks, tls,"
                + " compress or encryption)"),
        both(
            store("url: \"postgresql://a/b\", pool: 0"),
            "store.pool: 0 (expected: a whole number from 1 to 1000)"),
        both(
            store("url: \"postgresql://a/b\", prefix: x"),
            "store.prefix: unknown key (expected: url, timeout, pool, user, password,"
                + " compress or encryption)"),
        readerOnly(
            store("url: \"redis://a\", checks: 1ms"),
            "store.checks: 1ms (expected: a duration of at least 1s such as 30s)"));
  }

  private static Stream<BadFile> access() {
    return Stream.of(
        both(store("url: \"redis://a\", password: hunter2"), "store.password: ***" + OUTSIDE),
        readerOnly(
            store("url: \"redis://a\", password: { env: EMPTY }"),
            "store.password.env: the value of EMPTY is empty (expected: 1 character or more)"),
        readerOnly(
            store("url: \"redis://u:p@a\", password: { env: STORE_PASSWORD }"),
            "store.password: given beside a password in the URL (expected: one of them)"),
        both(
            store("url: \"redis://a\", user: u"),
            "store.user: without password (expected: password beside it)"),
        readerOnly(
            store("url: \"postgresql://u@a/b\", user: v"),
            "store.user: given beside a user in the URL (expected: one of them)"),
        both(
            store("url: \"redis-sentinel://a#p\", sentinel-user: u"),
            "store.sentinel-user: without sentinel-password (expected: sentinel-password beside"
                + " it)"),
        readerOnly(
            store("url: \"redis://a\", tls: { ca: ca.crt }"),
            "store.tls: given (expected: none, or a URL with TLS: rediss://, rediss-sentinel:// or"
                + " rediss-cluster://)"),
        both(
            store("url: \"rediss://a\", tls: { key: client.key }"),
            "store.tls.certificate: missing (expected: certificate and key, or none of them)"));
  }

  private static Stream<BadFile> outermost() {
    return Stream.of(
        both(
            top("operators: {}"),
            "operators: no token (expected: read or write, such as read: { env: OPS_READ })"),
        both(
            top("operators: { bodies: true }"),
            "operators: no token (expected: read or write, such as read: { env: OPS_READ })"),
        both(top("operators: { read: a-token-of-the-file }"), "operators.read: ***" + OUTSIDE),
        readerOnly(
            top("operators: { read: { env: SHORT } }"),
            "operators.read.env: the value of SHORT is too short (expected: 16 characters or"
                + " more)"),
        readerOnly(
            top("operators: { read: { file: ops.write }, write: { file: ops.write } }"),
            "operators.write: the same token as read (expected: another one, as whoever looks could"
                + " else resolve)"),
        both(
            top("sweep: { every: 5 }"),
            "sweep.every: 5 (expected: a duration of at least 100ms such as 5s, or 0s for never)"),
        readerOnly(
            top("sweep: { every: 1ms }"),
            "sweep.every: 1ms (expected: a duration of at least 100ms such as 5s, or 0s for"
                + " never)"),
        readerOnly(top("drain-delay: 11m"), "drain-delay: 11m (expected: at most 10m)"),
        both(
            top("limits: { waiters: -1 }"),
            "limits.waiters: -1 (expected: a whole number from 0 to 1000000)"),
        both(
            top("limits: { backlog: 0 }"),
            "limits.backlog: 0 (expected: a size > 0 such as 32MiB)"));
  }

  private static Stream<BadFile> durability() {
    String forms = " (expected: none, disk, { replicas: 1 } or { disk: true })";
    return Stream.of(
        both(kept("durability: all"), "routes[0].durability: all" + forms),
        both(
            kept("durability: {}"),
            "routes[0].durability: no level (expected: replicas: 1 or more, or disk: true)"),
        both(
            kept("durability: { completions: true }"),
            "routes[0].durability: no level (expected: replicas: 1 or more, or disk: true)"),
        both(
            kept("durability: { replicas: 0 }"),
            "routes[0].durability.replicas: 0 (expected: a whole number from 1 to 16)"),
        both(
            kept("durability: { replicas: 1, disk: true }"),
            "routes[0].durability.disk: given beside replicas (expected: one of replicas and"
                + " disk)"),
        readerOnly(
            route("durability: disk"),
            "routes[0].durability: disk with the store memory (expected: none, or a store that"
                + " keeps records: redis://… or postgresql://…)"),
        readerOnly(
            route("guard: 30s"),
            "routes[0].guard: 30s with the store memory (expected: 0s, or a store that can tell"
                + " that it lost records: redis://…)"),
        readerOnly(
            route("guard: 30s") + "store: postgresql://u@a/b\n",
            "routes[0].guard: 30s with the store PostgreSQL (expected: 0s, or a store that can tell"
                + " that it lost records: redis://…)"),
        readerOnly(
            kept("idempotency: off, durability: disk"),
            "routes[0].durability: in a route with idempotency: off (expected: idempotency:"
                + " required or optional, as nothing is looked at where it is off)"),
        readerOnly(
            kept("response: { limit: 65MiB }"),
            "routes[0].response.limit: 65MiB (expected: at most 64MiB where the store is not"
                + " memory)"));
  }

  private static Stream<BadFile> waiting() {
    return Stream.of(
        readerOnly(
            route("in-flight: wait 5s, waiting: { longest: 4s }"),
            "routes[0].waiting.longest: 4s (expected: at least what in-flight says, which is wait"
                + " 5s)"),
        readerOnly(
            route("waiting: { longest: 6m }"),
            "routes[0].waiting.longest: 6m (expected: at most 5m)"),
        both(
            route("waiting: { per-key: 0 }"),
            "routes[0].waiting.per-key: 0 (expected: a whole number from 1 to 100000)"));
  }

  private static Stream<BadFile> probes() {
    String path = " (expected: a path such as /orders/by-key/{key})";
    return Stream.of(
        both(
            route("unknown: probe"),
            "routes[0].probe: missing (expected: how the upstream is asked, such as { url:"
                + " \"/orders/by-key/{key}\" }, as the route says unknown: probe)"),
        both(
            route("unknown: hold, probe: { url: \"/{key}\" }"),
            "routes[0].probe: given beside unknown: hold (expected: unknown: probe, or no probe)"),
        both(
            route("probe: { url: \"/{key}\" }"),
            "routes[0].probe: given beside unknown: hold (expected: unknown: probe, or no probe)"),
        both(probe(""), "routes[0].probe: neither (expected: one of url and request)"),
        both(
            probe("url: \"/{key}\", request: same"),
            "routes[0].probe: url and request (expected: one of url and request)"),
        both(probe("url: \"{key}\""), "routes[0].probe.url: {key}" + path),
        both(probe("url: \"/{key\""), "routes[0].probe.url: /{key" + path),
        both(
            probe("url: /x"),
            "routes[0].probe.url: /x (expected: a name in braces, as operations are told apart by"
                + " it)"),
        readerOnly(probe("url: \"/{id}/{key}\""), "routes[0].probe.url: {id} (expected: {key})"),
        readerOnly(
            "upstreams: { a: { url: \"http://a\" } }\n"
                + "routes: [{ name: x, path: \"/{key}\", upstream: a, unknown: probe, probe: { url:"
                + " \"/{key}\" } }]\n",
            "routes[0].probe.url: the route's path has a {key} of its own (expected: another name"
                + " there, as {key} stands for the client's key)"),
        readerOnly(
            probe("url: \"/{key}\", upstream: b"),
            "routes[0].probe.upstream: b (expected: one of the upstreams: a)"),
        both(
            probe("url: \"/{key}\", completed: [100]"),
            "routes[0].probe.completed[0]: 100 (expected: a whole number from 200 to 599)"),
        readerOnly(
            probe("url: \"/{key}\", never: [200]"),
            "routes[0].probe.never: 200 (expected: a status that completed does not have)"),
        readerOnly(
            probe("url: \"/{key}\", completed: [200, 206]"),
            "routes[0].probe.completed: 206 (expected: a status whose answer has a whole body)"),
        readerOnly(
            "upstreams: { a: { url: \"http://a\" }, b: { url: \"http://b\" } }\n"
                + "routes: [{ name: x, path: /x, upstream: a, unknown: probe, probe: { request:"
                + " same, upstream: b } }]\n",
            "routes[0].probe.request: same, to another upstream than the route's (expected: url,"
                + " as another service could execute the request and is not to see its"
                + " credentials)"),
        both(
            probe("url: \"/{key}\", on-never: forget"),
            "routes[0].probe.on-never: forget (expected: rerun or release)"),
        readerOnly(
            probe("url: \"/{key}\", back-off: 1m, longest: 1s"),
            "routes[0].probe.longest: 1s (expected: at least back-off, which is 1m)"),
        both(
            probe("url: \"/{key}\", headers: { Authorization: Bearer hunter2 }"),
            "routes[0].probe.headers.Authorization: ***" + OUTSIDE),
        both(
            probe("url: \"/{key}\", headers: { Host: { env: PROBE } }"),
            "routes[0].probe.headers: Host (expected: names of the name of an end-to-end header"
                + " field such as X-Request-Id)"),
        readerOnly(
            probe("url: \"/{key}\", headers: { X-A: { env: BROKEN } }"),
            "routes[0].probe.headers.X-A: the value of env BROKEN (expected: visible ASCII and"
                + " blanks)"),
        readerOnly(
            route(
                "unknown: probe, probe: { request: same }, fingerprint: { body: raw }, request: {"
                    + " mode: stream }"),
            "routes[0].probe.request: same, in a route whose requests stream (expected: url, as a"
                + " body that streamed is gone)"),
        readerOnly(
            probe("url: \"/{key}\"") + "sweep: { every: 0s }\n",
            "sweep.every: 0s (expected: more than 0s, as route x has a probe that the sweeper"
                + " asks)"));
  }
}
