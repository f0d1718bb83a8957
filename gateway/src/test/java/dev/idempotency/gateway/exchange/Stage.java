package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.idempotency.UnknownPolicy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Exchanges with everything around them in the hand of a test: store, upstream, client, time. */
final class Stage {

  /** Stands for the upstream of the stage in a rule that is made before it. */
  static final Upstream ROUTES_OWN = acquirer -> {};

  static final Duration LEASE = Duration.ofSeconds(10);

  /** The time of day when a test begins. */
  static final String DATE = "Thu, 01 Jan 1970 00:00:01 GMT";

  final FakeStore store = new FakeStore();
  final FakeUpstream upstream = new FakeUpstream();
  final HandScheduler scheduler = new HandScheduler();
  final HeardEvents heard = new HeardEvents();
  final BodyBudget budget;
  final Exchanges exchanges;

  /** A streaming request whose head is there; the store is being asked. */
  Call upload(String key, long contentLength) {
    return keyed(key, contentLength);
  }

  private Stage(Settings settings) {
    budget = new BodyBudget(settings.budget);
    exchanges =
        new Exchanges(
            List.of(settings.route(upstream)),
            request -> Response.of(200, new Headers(), new byte[0]),
            store,
            scheduler,
            budget,
            new BodyBudget(settings.backlog),
            new WaitingPlaces(1_000),
            settings.proxied ? AddressRanges.of(List.of("10.0.0.0/8")) : AddressRanges.NONE,
            heard);
  }

  /** A request without a body whose head is there. */
  Call request(Peer peer, long contentLength, String... fields) {
    FakeClient client = new FakeClient();
    RequestHead head = RequestHead.of("POST", "/orders?q=1", Headers.of(fields));
    return new Call(client, exchanges.open(head, contentLength, peer, client));
  }

  static Stage open() {
    return new Settings().open();
  }

  static Settings with() {
    return new Settings();
  }

  /** A request whose head is there. */
  Call post(String key) {
    return keyed(key, -1);
  }

  private Call keyed(String key, long contentLength, String... fields) {
    return post(Headers.of("Idempotency-Key", key), contentLength, fields);
  }

  private Call post(Headers first, long contentLength, String... fields) {
    Headers headers = Headers.of("Host", "gw.test");
    first.forEach(headers::add);
    Headers.of(fields).forEach(headers::add);
    return post("/orders", contentLength, headers);
  }

  /** A request with those header fields whose head is there. */
  Call post(String target, long contentLength, String... fields) {
    return post(target, contentLength, Headers.of(fields));
  }

  private Call post(String target, long contentLength, Headers headers) {
    FakeClient client = new FakeClient();
    RequestHead head = RequestHead.of("POST", target, headers);
    Exchange exchange =
        exchanges.open(
            head, contentLength, new Peer("10.0.0.7", "http", "1.1", false, null), client);
    return new Call(client, exchange);
  }

  /** A whole request with those header fields. */
  Call request(String target, String body, String... fields) {
    Call call = post(target, body.length(), fields);
    if (!body.isEmpty()) {
      call.exchange.body(new TextChunk(body));
    }
    call.exchange.bodyEnd();
    return call;
  }

  /** A whole request; the store is being asked. */
  Call whole(String key, String body) {
    return whole(key, body, new String[0]);
  }

  /** The same with further header fields. */
  Call whole(String key, String body, String... fields) {
    Call call = keyed(key, -1, fields);
    call.exchange.body(new TextChunk(body));
    call.exchange.bodyEnd();
    return call;
  }

  /** The head of a request without a key, of an announced length. */
  Call keyless(long contentLength) {
    return post(new Headers(), contentLength);
  }

  /** A whole request whose operation was acquired; a connection is awaited. */
  Call acquired() {
    Call call = whole("k", "{}");
    store.acquire();
    return call;
  }

  /** A whole request that took over as attempt 2; a connection is awaited. */
  Call tookOver() {
    Call call = whole("k", "{}");
    store.existing(1, new dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown(true));
    store.acquire();
    return call;
  }

  record Call(FakeClient client, Exchange exchange) {}

  /** Lets a whole response come. */
  static void answer(ResponseReceiver to, int status, String body, String... fields) {
    to.head(new ResponseHead(status, Headers.of(fields)), body.length());
    if (!body.isEmpty()) {
      to.chunk(new TextChunk(body));
    }
    to.end(new Headers());
    to.flush();
  }

  /** What a route can say. */
  static final class Settings {
    private long budget = 1 << 20;
    private Route.Waiting waiting = Route.Waiting.of(Duration.ZERO);
    private long backlog = 1 << 20;
    private UnknownPolicy unknown = UnknownPolicy.HOLD;
    private Route.Safety safety = Route.Safety.NONE;
    private boolean bypass;
    private boolean proxied;
    private Route.Keying keying = Route.Keying.REQUIRED;
    private Route.Callers callers = Route.Callers.of(List.of());
    private boolean streaming;
    private boolean streamsRequest;
    private long requestLimit = 1000;
    private long responseLimit = 1000;
    private Map<Integer, Outcome> outcomes = Map.of();
    private KeyRule keys = KeyRule.header("Idempotency-Key");
    private CopyRule copy = CopyRule.DEFAULT;
    private boolean observe;
    private AnswerRule answers = AnswerRule.DEFAULT;

    Settings observe() {
      observe = true;
      return this;
    }

    /** Responses say when their record ends. */
    Settings expires() {
      copy = new CopyRule(Set.of(), Set.of(), null, true);
      return this;
    }

    Settings answers(AnswerRule rule) {
      answers = rule;
      return this;
    }

    Settings budget(long bytes) {
      budget = bytes;
      return this;
    }

    Settings backlog(long bytes) {
      backlog = bytes;
      return this;
    }

    Settings patience(Duration time) {
      waiting = Route.Waiting.of(time);
      return this;
    }

    Settings waiting(Route.Waiting rule) {
      waiting = rule;
      return this;
    }

    Settings retry() {
      unknown = UnknownPolicy.RETRY;
      return this;
    }

    /** The upstream is asked. */
    Settings probe(ProbeRule rule) {
      unknown = UnknownPolicy.PROBE;
      safety = new Route.Safety(Durability.NONE, Duration.ZERO, rule);
      return this;
    }

    Settings safety(Route.Safety wanted) {
      safety = wanted;
      return this;
    }

    Settings bypass() {
      bypass = true;
      return this;
    }

    /** Addresses in 10.0.0.0/8 are proxies. */
    Settings proxied() {
      proxied = true;
      return this;
    }

    Settings callers(Route.Callers told) {
      callers = told;
      return this;
    }

    Settings streaming() {
      streaming = true;
      return this;
    }

    Settings streamsRequest() {
      streamsRequest = true;
      return this;
    }

    Settings responseLimit(long bytes) {
      responseLimit = bytes;
      return this;
    }

    Settings requestLimit(long bytes) {
      requestLimit = bytes;
      return this;
    }

    Settings copy(CopyRule rule) {
      copy = rule;
      return this;
    }

    Settings outcomes(Map<Integer, Outcome> byStatus) {
      outcomes = byStatus;
      return this;
    }

    Settings optional() {
      keying = Route.Keying.OPTIONAL;
      return this;
    }

    Settings keys(KeyRule rule) {
      keys = rule;
      return this;
    }

    Settings scope(ScopePart... parts) {
      callers = Route.Callers.of(List.of(parts));
      return this;
    }

    Stage open() {
      return new Stage(this);
    }

    private Route route(Upstream upstream) {
      ProbeRule probe = safety.probe();
      if (probe != null && probe.upstream() == ROUTES_OWN) {
        probe(ProbeRules.to(upstream, probe));
      }
      return new Route(
          "create-order",
          Set.of("POST"),
          PathPattern.of("/**"),
          upstream,
          keying,
          observe,
          keys,
          callers,
          new TextFingerprinter(),
          Duration.ofHours(1),
          LEASE,
          waiting,
          unknown,
          safety,
          bypass,
          new OutcomePolicy(outcomes),
          requestLimit,
          responseLimit,
          streaming,
          copy,
          answers,
          streamsRequest,
          false);
    }
  }

  /** A body's fingerprint as {@link TextFingerprinter} makes it. */
  static Fingerprint fingerprint(String body) {
    byte[] hash = new byte[Fingerprint.LENGTH];
    Arrays.fill(hash, (byte) body.hashCode());
    return new Fingerprint(1, hash);
  }

  /** Looks at nothing but the body. */
  private static final class TextFingerprinter implements Fingerprinter {
    @Override
    public Fingerprints fingerprint(RequestHead head, byte[] body) {
      return Fingerprints.only(Stage.fingerprint(new String(body, StandardCharsets.ISO_8859_1)));
    }

    @Override
    public Running begin(RequestHead head) {
      StringBuilder seen = new StringBuilder();
      return new Running() {
        @Override
        public void add(Chunk chunk) {
          byte[] bytes = new byte[chunk.length()];
          chunk.copyTo(bytes, 0);
          seen.append(new String(bytes, StandardCharsets.ISO_8859_1));
        }

        @Override
        public Fingerprints end() {
          return Fingerprints.only(Stage.fingerprint(seen.toString()));
        }
      };
    }
  }
}
