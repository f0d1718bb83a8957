package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
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

  static final Duration LEASE = Duration.ofSeconds(10);

  final FakeStore store = new FakeStore();
  final FakeUpstream upstream = new FakeUpstream();
  final HandScheduler scheduler = new HandScheduler();
  final HeardEvents heard = new HeardEvents();
  final BodyBudget budget;
  final Exchanges exchanges;

  /** A streaming request whose head is there; the store is being asked. */
  Call upload(String key, long contentLength) {
    return post(key, contentLength);
  }

  private Stage(Settings settings) {
    budget = new BodyBudget(settings.budget);
    exchanges =
        new Exchanges(
            List.of(settings.route(upstream)),
            Response.of(200, new Headers(), new byte[0]),
            store,
            scheduler,
            budget,
            AddressRanges.NONE,
            heard);
  }

  static Stage open() {
    return new Settings().open();
  }

  static Settings with() {
    return new Settings();
  }

  /** A request whose head is there. */
  Call post(String key) {
    return post(key, -1);
  }

  private Call post(String key, long contentLength) {
    return post("/orders", contentLength, "Host", "gw.test", "Idempotency-Key", key);
  }

  /** A request with those header fields whose head is there. */
  Call post(String target, long contentLength, String... fields) {
    FakeClient client = new FakeClient();
    RequestHead head = RequestHead.of("POST", target, Headers.of(fields));
    Exchange exchange =
        exchanges.open(
            head, contentLength, new Peer("10.0.0.7", "http", "1.1", false, null), client);
    return new Call(client, exchange);
  }

  /** A whole request with those header fields. */
  Call whole(String target, String body, String[] fields) {
    Call call = post(target, body.length(), fields);
    if (!body.isEmpty()) {
      call.exchange.body(new TextChunk(body));
    }
    call.exchange.bodyEnd();
    return call;
  }

  /** A whole request; the store is being asked. */
  Call whole(String key, String body) {
    Call call = post(key);
    call.exchange.body(new TextChunk(body));
    call.exchange.bodyEnd();
    return call;
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
    private Duration patience = Duration.ZERO;
    private UnknownPolicy unknown = UnknownPolicy.HOLD;
    private boolean bypass;
    private boolean streaming;
    private boolean streamsRequest;
    private long requestLimit = 1000;
    private long responseLimit = 1000;
    private Map<Integer, Outcome> outcomes = Map.of();
    private Route.Keying keying = Route.Keying.REQUIRED;
    private KeyRule keys = KeyRule.header("Idempotency-Key");
    private List<ScopePart> scope = List.of();
    private CopyRule copy = CopyRule.DEFAULT;

    Settings budget(long bytes) {
      budget = bytes;
      return this;
    }

    Settings patience(Duration time) {
      patience = time;
      return this;
    }

    Settings retry() {
      unknown = UnknownPolicy.RETRY;
      return this;
    }

    Settings bypass() {
      bypass = true;
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
      scope = List.of(parts);
      return this;
    }

    Stage open() {
      return new Stage(this);
    }

    private Route route(Upstream upstream) {
      return new Route(
          "create-order",
          Set.of("POST"),
          PathPattern.of("/**"),
          upstream,
          keying,
          false,
          keys,
          Route.Callers.of(scope),
          new TextFingerprinter(),
          Duration.ofHours(1),
          LEASE,
          patience,
          unknown,
          bypass,
          new OutcomePolicy(outcomes),
          requestLimit,
          responseLimit,
          streaming,
          copy,
          AnswerRule.DEFAULT,
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
