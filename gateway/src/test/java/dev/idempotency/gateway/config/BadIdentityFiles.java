package dev.idempotency.gateway.config;

import static dev.idempotency.gateway.config.BadFiles.both;
import static dev.idempotency.gateway.config.BadFiles.readerOnly;
import static dev.idempotency.gateway.config.BadFiles.route;
import static dev.idempotency.gateway.config.BadFiles.top;

import dev.idempotency.gateway.config.BadFiles.BadFile;
import java.util.stream.Stream;

/** Files with one problem each in what says whose key it is, and what is told and kept of it. */
final class BadIdentityFiles {

  private static final String HEADER =
      " (expected: the name of an end-to-end header field such as X-Request-Id)";
  private static final String POINTER =
      " (expected: a JSON pointer (RFC 6901) such as /metadata/sent_at)";
  private static final String PARAMETER =
      " (expected: the name of a parameter of the query such as request_id)";
  private static final String COUNT = " (expected: a whole number from 0 to 1000000)";

  private BadIdentityFiles() {}

  static Stream<BadFile> all() {
    return Stream.of(
            keys(),
            ages(),
            derived(),
            scopes(),
            quotas(),
            forwardAuth(),
            fingerprints(),
            answers(),
            tokens(),
            secrets(),
            encryption())
        .flatMap(files -> files);
  }

  private static Stream<BadFile> keys() {
    String form =
        " (expected: uuid, uuid7, ulid or a regular expression such as /[A-Z]{3}-[0-9]+/)";
    String source =
        " (expected: header:NAME, query:NAME or pointer:POINTER, such as header:Idempotency-Key)";
    String sources = " (expected: one of header, pointer, query and sources)";
    return Stream.of(
        both(route("key: { pointer: id }"), "routes[0].key.pointer: id" + POINTER),
        both(route("key: { query: \"\" }"), "routes[0].key.query: \"\"" + PARAMETER),
        both(route("key: { syntax: strict }"), "routes[0].key: no source of keys" + sources),
        both(route("key: { header: A, query: b }"), "routes[0].key: header and query" + sources),
        both(
            route("key: { pointer: /a, sources: [\"header:A\"] }"),
            "routes[0].key: pointer and sources" + sources),
        both(
            route("key: { heder: A, query: b }"),
            "routes[0].key.heder: unknown key (did you mean header?)"),
        both(
            route("key: { sources: [\"header:A\", \"cookie:b\"] }"),
            "routes[0].key.sources[1]: cookie:b" + source),
        both(
            route("key: { sources: [\"pointer:a\"] }"),
            "routes[0].key.sources[0]: pointer:a" + source),
        readerOnly(
            route("key: { sources: [\"header:A\", \"header:a\"] }"),
            "routes[0].key.sources: header:a twice (expected: each source once)"),
        both(
            route("key: { header: A, syntax: loose }"),
            "routes[0].key.syntax: loose (expected: lenient or strict)"),
        both(route("key: { header: A, pattern: guid }"), "routes[0].key.pattern: guid" + form),
        both(route("key: { header: A, pattern: // }"), "routes[0].key.pattern: //" + form),
        readerOnly(
            route("key: { header: A, pattern: \"/(a/\" }"),
            "routes[0].key.pattern: /(a/ (expected: a regular expression in the syntax of RE2:"
                + " error parsing regexp: missing closing ): `(a`)"),
        readerOnly(
            route("key: { header: A, pattern: \"/(a)\\\\1/\" }"),
            "routes[0].key.pattern: /(a)\\1/ (expected: a regular expression in the syntax of RE2:"
                + " error parsing regexp: invalid escape sequence: `\\1`)"),
        readerOnly(
            route("key: { header: A, pattern: \"/" + "a".repeat(1025) + "/\" }"),
            "routes[0].key.pattern: /"
                + "a".repeat(59)
                + "… (expected: a regular expression of at most 1024 characters)"),
        both(
            route("key: { pointer: /id }, fingerprint: { body: raw }, request: { mode: stream }"),
            "routes[0].key: in the body (expected: request: { mode: buffer }, as a body that"
                + " streams is gone before it is read)"));
  }

  private static Stream<BadFile> ages() {
    return Stream.of(
        both(
            route("key: { header: A, pattern: uuid, time-bound: true }"),
            "routes[0].key.time-bound: true (expected: pattern: uuid7 or ulid beside it, as other"
                + " keys have no time)"),
        both(
            route("key: { header: A, pattern: ulid, time-bound: true, first-sent: B }"),
            "routes[0].key.first-sent: given beside time-bound: true (expected: one of the two, as"
                + " a key is of one age)"),
        both(
            route("key: { header: A, first-sent: a b }"), "routes[0].key.first-sent: a b" + HEADER),
        both(
            route("key: { header: A, skew: 1s }"),
            "routes[0].key.skew: 1s (expected: time-bound or first-sent beside it, as other keys"
                + " have no age)"),
        readerOnly(
            route("key: { header: A, first-sent: B, skew: 2h }"),
            "routes[0].key.skew: 2h (expected: at most 1h)"),
        readerOnly(
            route("key: { header: A, first-sent: B }, retention: 2m"),
            "routes[0].retention: 2m (expected: more than twice the key's skew, which is 1m)"));
  }

  private static Stream<BadFile> derived() {
    return Stream.of(
        both(
            route("key: { header: A, derive: 10s }"),
            "routes[0].key.derive: 10s (expected: a scope in this route, as equal requests of two"
                + " callers would be one operation)"),
        both(
            route(
                "key: { header: A, derive: 10s }, scope: [credential], fingerprint: { body: raw },"
                    + " request: { mode: stream }"),
            "routes[0].key.derive: 10s (expected: request: { mode: buffer }, as a key is derived"
                + " from the whole body)"),
        readerOnly(
            route("key: { header: A, derive: 1h }, scope: [credential], retention: 30m"),
            "routes[0].key.derive: 1h (expected: at most the retention, which is 30m)"),
        both(
            route("key: { header: A, derive: 0s }, scope: [credential]"),
            "routes[0].key.derive: 0s (expected: a duration of at least 1s such as 10s)"));
  }

  private static Stream<BadFile> scopes() {
    String expected =
        " (expected: credential, credential:NAME, header:NAME, jwt:CLAIM, certificate:subject,"
            + " basic:user or auth:NAME, such as credential or header:X-Tenant)";
    return Stream.of(
        both(route("scope: [Authorization]"), "routes[0].scope[0]: Authorization" + expected),
        both(route("scope: [\"header:\"]"), "routes[0].scope[0]: header:" + expected),
        both(route("scope: [\"basic:password\"]"), "routes[0].scope[0]: basic:password" + expected),
        readerOnly(route("scope: [\"header:Host\"]"), "routes[0].scope[0]: header:Host" + expected),
        readerOnly(
            route("scope: [\"jwt:sub\"]"),
            "routes[0].scope: jwt:sub (expected: jwt at the top of the file, which verifies"
                + " tokens)"),
        readerOnly(
            route("scope: [\"auth:X-User\"]"),
            "routes[0].scope: auth:X-User (expected: forward-auth in this route, whose answer has"
                + " the field)"),
        readerOnly(
            route(
                "scope: [\"header:X-User\"], forward-auth: { upstream: a, path: /c, copy: [x-user] }"),
            "routes[0].scope: header:X-User (expected: auth:X-User, as forward-auth answers it: in a"
                + " request it is anybody's)"),
        readerOnly(
            route("scope: [\"basic:user\"]"),
            "routes[0].scope: basic:user (expected: forward-auth in this route, or trusted-proxies:"
                + " the gateway itself checks no password)"),
        both(
            route("idempotency: off, observe: true"),
            "routes[0].observe: in a route with idempotency: off (expected: idempotency: required"
                + " or optional, as nothing is looked at where it is off)"),
        both(route("listed: maybe"), "routes[0].listed: maybe (expected: true or false)"));
  }

  private static Stream<BadFile> quotas() {
    return Stream.of(
        both(
            route("quota: { new-keys: 0, within: 1s }"),
            "routes[0].quota: no limit (expected: new-keys or unfinished above 0)"),
        both(
            route("quota: { within: 1m }"),
            "routes[0].quota: no limit (expected: new-keys or unfinished above 0)"),
        both(
            route("quota: {}"),
            "routes[0].quota: no limit (expected: new-keys or unfinished above 0)"),
        both(
            route("quota: { new-keys: 1, unfinished: -1 }"),
            "routes[0].quota.unfinished: -1" + COUNT),
        readerOnly(
            route("quota: { new-keys: 1, within: 10ms }"),
            "routes[0].quota.within: 10ms (expected: a duration of at least 1s such as 1m)"),
        both(
            route("idempotency: off, quota: { new-keys: 1 }"),
            "routes[0].quota: in a route with idempotency: off (expected: idempotency: required or"
                + " optional, as nothing is looked at where it is off)"));
  }

  private static Stream<BadFile> forwardAuth() {
    return Stream.of(
        readerOnly(
            route("forward-auth: { upstream: auth, path: /check }"),
            "routes[0].forward-auth.upstream: auth (expected: one of the upstreams: a)"),
        both(
            route("forward-auth: { path: /check }"),
            "routes[0].forward-auth.upstream: missing (expected: one of the upstreams: a)"),
        both(
            route("forward-auth: { upstream: a }"),
            "routes[0].forward-auth.path: missing (expected: a path such as /check, without a"
                + " query)"),
        both(
            route("forward-auth: { upstream: a, path: \"/check?a\" }"),
            "routes[0].forward-auth.path: /check?a (expected: a path such as /check, without a"
                + " query)"),
        readerOnly(
            route("forward-auth: { upstream: a, path: /, timeout: 2m }"),
            "routes[0].forward-auth.timeout: 2m (expected: at most 1m)"),
        readerOnly(
            route("forward-auth: { upstream: a, path: /, cache: 2h }"),
            "routes[0].forward-auth.cache: 2h (expected: at most 1h)"),
        both(
            route("forward-auth: { upstream: a, path: /, on-failure: ignore }"),
            "routes[0].forward-auth.on-failure: ignore (expected: reject or allow)"),
        both(
            route("forward-auth: { upstream: a, path: /, copy: [Connection] }"),
            "routes[0].forward-auth.copy[0]: Connection" + HEADER),
        both(
            route("idempotency: off, forward-auth: { upstream: a, path: / }"),
            "routes[0].forward-auth: in a route with idempotency: off (expected: idempotency:"
                + " required or optional, as nothing is looked at where it is off)"));
  }

  private static Stream<BadFile> fingerprints() {
    return Stream.of(
        both(
            route("fingerprint: { body: raw, only: [/a] }"),
            "routes[0].fingerprint.only: given beside body: raw (expected: none, or body:"
                + " canonical)"),
        both(route("fingerprint: { only: [a] }"), "routes[0].fingerprint.only[0]: a" + POINTER),
        both(
            route("fingerprint: { query: [\"\"] }"),
            "routes[0].fingerprint.query[0]: \"\"" + PARAMETER),
        both(
            route("fingerprint: { version: 3 }"),
            "routes[0].fingerprint.version: 3 (expected: a whole number from 1 to 2)"),
        both(
            route("fingerprint: { version: 1, query: [a] }"),
            "routes[0].fingerprint.query: given beside version: 1 (expected: none, or version: 2"
                + " which knows it)"),
        both(
            route("fingerprint: { version: 1, only: [/a] }"),
            "routes[0].fingerprint.only: given beside version: 1 (expected: none, or version: 2"
                + " which knows it)"),
        readerOnly(
            route("fingerprint: { only: [/b, /a/b], ignore: [/c, /a] }"),
            "routes[0].fingerprint.only[1]: /a/b (expected: what ignore does not leave out, as it"
                + " does with /a)"),
        readerOnly(
            route("fingerprint: { only: [/a], ignore: [/a] }"),
            "routes[0].fingerprint.only[0]: /a (expected: what ignore does not leave out, as it"
                + " does with /a)"));
  }

  private static Stream<BadFile> answers() {
    String origin = " (expected: an origin such as https://app.example.com, without a path, or *)";
    return Stream.of(
        both(route("errors: paypal"), "routes[0].errors: paypal (expected: problem or stripe)"),
        readerOnly(
            route("response: { keep: [ETag, Set-Cookie], drop: [set-cookie] }"),
            "routes[0].response.drop: set-cookie (expected: a field that keep does not name)"),
        both(route("response: { redact: [card] }"), "routes[0].response.redact[0]: card" + POINTER),
        both(
            route("response: { expires: 1h }"),
            "routes[0].response.expires: 1h (expected: true or false)"),
        both(
            route("cors: { origins: [\"a.example\"] }"),
            "routes[0].cors.origins[0]: a.example" + origin),
        both(
            route("cors: { origins: [\"https://a.example/b\"] }"),
            "routes[0].cors.origins[0]: https://a.example/b" + origin),
        both(
            route("cors: { credentials: false }"),
            "routes[0].cors.origins: missing (expected: a list of at least one an origin such as"
                + " https://app.example.com, without a path, or *)"),
        both(
            route("cors: { origins: [\"*\"], credentials: true }"),
            "routes[0].cors.credentials: true beside the origin * (expected: the origins that may"
                + " send credentials, as browsers refuse them for *)"),
        readerOnly(
            route("cors: { origins: [\"*\", \"https://a.example\"] }"),
            "routes[0].cors.origins: * beside others (expected: * alone, or origins without *)"));
  }

  private static Stream<BadFile> tokens() {
    String keys =
        " (expected: a URL such as https://idp.example.com/jwks.json, without a user, or the path"
            + " of a file)";
    String algorithms =
        " (expected: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA";
    return Stream.of(
        both(top("jwt: {}"), "jwt.keys: missing" + keys),
        readerOnly(top("jwt: { keys: \"ftp://a/b\" }"), "jwt.keys: ftp://a/b" + keys),
        readerOnly(top("jwt: { keys: \"https://u:pw@a/b\" }"), "jwt.keys: https://***@a/b" + keys),
        readerOnly(
            top("jwt: { keys: none.json }"),
            "jwt.keys: none.json does not exist (expected: a file that can be read)"),
        both(
            top("jwt: { keys: jwks.json, algorithms: [RS256, HS256] }"),
            "jwt.algorithms[1]: HS256"
                + algorithms
                + "; with HS256 whoever can verify tokens can make them as well)"),
        both(
            top("jwt: { keys: jwks.json, algorithms: [none] }"),
            "jwt.algorithms[0]: none" + algorithms + "; tokens without a signature prove nothing)"),
        both(
            top("jwt: { keys: jwks.json, algorithms: [RS128] }"),
            "jwt.algorithms[0]: RS128" + algorithms + ")"),
        readerOnly(
            top("jwt: { keys: jwks.json, leeway: 6m }"), "jwt.leeway: 6m (expected: at most 5m)"),
        readerOnly(
            top("jwt: { keys: jwks.json, refresh: 10ms }"),
            "jwt.refresh: 10ms (expected: a duration of at least 1s such as 10m)"),
        readerOnly(
            top("jwt: { keys: jwks.json, ca: ca.crt }"),
            "jwt.ca: given (expected: none, as the keys do not come by https)"),
        both(
            top("jwt: { keys: jwks.json, issuers: a }"),
            "jwt.issuers: unknown key (did you mean issuer?)"));
  }

  private static Stream<BadFile> secrets() {
    String secret = " (expected: 16 characters or more, or { env: NAME } or { file: PATH })";
    return Stream.of(
        both(top("secrets: [hunter2]"), "secrets[0]: ***" + secret),
        both(top("secrets: [{ env: FINGERPRINT_SECRET }, {}]"), "secrets[1]: a mapping" + secret),
        both(
            top("secrets: { env: FINGERPRINT_SECRET }"),
            "secrets: a mapping (expected: a list of at least one"
                + secret.substring(" (expected:".length())),
        readerOnly(
            top("secrets: [{ file: none }]"),
            "secrets[0].file: none cannot be read (expected: a file that can be read)"),
        readerOnly(
            top("secrets: [{ file: old.secret }, an-older-secret-of-a-file]"),
            "secrets: two that are the same (expected: each secret once)"),
        both(
            top("secret: { file: old.secret }\nsecrets: [{ env: FINGERPRINT_SECRET }]"),
            "secrets: given beside secret (expected: one of secret and secrets)"),
        both(top("discovery: \"yes\""), "discovery: yes (expected: true or false)"));
  }

  private static BadFile encryption(String keys, String problem, boolean schema) {
    String secret = "secret: { file: old.secret }\n";
    String yaml = top(secret + "store: { url: memory, encryption: { keys: " + keys + " } }");
    return new BadFile(yaml, "store.encryption.keys" + problem, schema);
  }

  private static Stream<BadFile> encryption() {
    String key = " (expected: 32 bytes in base64, as openssl rand -base64 32 makes them)";
    String list = "a list of at least one key such as { id: k1, env: RECORDS_KEY })";
    return Stream.of(
        encryption("[]", ": an empty list (expected: " + list, true),
        both(
            top("store: { url: redis://a, encryption: {} }"),
            "store.encryption.keys: missing (expected: " + list),
        encryption("[{ id: k1 }]", "[0]: a mapping (expected: env or file beside its id)", true),
        encryption(
            "[{ env: RECORDS_KEY }]",
            "[0].id: missing (expected: up to 32 letters, digits, dashes or underscores such as"
                + " k1)",
            true),
        encryption(
            "[{ id: \"k 1\", env: RECORDS_KEY }]",
            "[0].id: k 1 (expected: up to 32 letters, digits, dashes or underscores such as k1)",
            true),
        encryption(
            "[{ id: k1, env: RECORDS_KEY }, { id: k1, file: k1.key }]",
            "[1].id: k1 (expected: an id that no other key has)",
            false),
        encryption(
            "[{ id: k1, env: FINGERPRINT_SECRET }]",
            "[0].env: the value of FINGERPRINT_SECRET, key k1, is not base64" + key,
            false),
        encryption(
            "[{ id: k1, file: short.key }]",
            "[0].file: the content of short.key, key k1, has 31 bytes" + key,
            false),
        encryption(
            "[{ id: k1, file: none }]",
            "[0].file: none cannot be read (expected: a file that can be read)",
            false),
        readerOnly(
            top("store: { url: memory, encryption: { keys: [{ id: k1, env: RECORDS_KEY }] } }"),
            "store.encryption: without secret (expected: secret or secrets at the top of the file:"
                + " the fingerprints beside the encrypted responses are else plain hashes, which"
                + " tell whoever reads the store what a body was that he can guess)"),
        readerOnly(
            top("store: { url: memory, compress: 2GiB }"),
            "store.compress: 2GiB (expected: at most 1GiB, or 0 for none)"));
  }
}
