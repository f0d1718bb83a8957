package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.Authorizer.Decision;
import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A request whose caller others are asked about. */
class InquiryTest {

  private static final Peer PEER = new Peer("192.0.2.1", "http", "1.1", false, null);
  private static final String[] KEYED = {"Host", "gw.test", "Idempotency-Key", "k"};

  private final Asked service = new Asked();
  private final Tokens tokens = new Tokens();

  /** Answers when a test says so. */
  private static final class Asked implements Authorizer {
    final ArrayDeque<Consumer<Decision>> waiting = new ArrayDeque<>();
    @Nullable Decision atOnce;

    @Override
    public void authorize(RequestHead head, Peer peer, Consumer<Decision> decided) {
      if (atOnce == null) {
        waiting.add(decided);
      } else {
        decided.accept(atOnce);
      }
    }

    @Override
    public Set<String> copied() {
      return Set.of("x-user-id");
    }

    void say(Decision decision) {
      waiting.remove().accept(decision);
    }
  }

  private static final class Tokens implements TokenVerifier {
    final ArrayDeque<Consumer<Verdict>> waiting = new ArrayDeque<>();
    String seen = "";

    @Override
    public void verify(String token, Consumer<Verdict> verified) {
      seen = token;
      waiting.add(verified);
    }

    void say(Verdict verdict) {
      waiting.remove().accept(verdict);
    }
  }

  private static Decision yes(String... fields) {
    return new Decision.Allowed(Headers.of(fields));
  }

  private static Decision no(int status) {
    return new Decision.Denied(
        Response.of(
            status,
            Headers.of("WWW-Authenticate", "Custom"),
            "no".getBytes(StandardCharsets.US_ASCII)));
  }

  private Stage asking(ScopePart... scope) {
    return Stage.with().callers(new Route.Callers(List.of(scope), null, service, null)).open();
  }

  private Stage verifying() {
    List<ScopePart> scope = List.of(new ScopePart.TokenClaim("sub"));
    return Stage.with().callers(new Route.Callers(scope, tokens, null, null)).open();
  }

  // ---- the service

  @Test
  void nothingIsReadAndNothingIsReservedBeforeTheServiceHasAnswered() {
    Stage stage = asking();
    Stage.Call call = stage.request(PEER, 2, KEYED);

    assertThat(call.client().isBodyWanted()).isFalse();
    assertThat(stage.exchanges.underWay()).isEqualTo(1);
    service.say(yes());
    assertThat(call.client().isBodyWanted()).isTrue();
    assertThat(stage.store.commands()).isEmpty();
    call.exchange().body(new TextChunk("{}"));
    call.exchange().bodyEnd();
    assertThat(stage.store.commands()).containsExactly("reserve 1");
    assertThat(stage.exchanges.underWay()).isEqualTo(1);
  }

  @Test
  void requestWithoutContentThatWasWholeBeforehandIsRun() {
    Stage stage = asking();
    Stage.Call call = stage.request(PEER, 0, KEYED);
    call.exchange().bodyEnd();
    call.exchange().flush();
    service.say(yes("X-User-Id", "u1"));
    stage.store.acquire();
    Connection connection = stage.upstream.connect();
    answer(connection.receiver(), 201, "made");
    stage.store.done();

    assertThat(connection.head().headers().all("X-User-Id")).containsExactly("u1");
    assertThat(call.client().status()).isEqualTo(201);
    assertThat(call.exchange().isOver()).isTrue();
    assertThat(stage.exchanges.underWay()).isZero();
  }

  @Test
  void bodyThatComesWhileTheExchangeIsOpenedIsNotLost() {
    Stage stage = asking();
    Eager client = new Eager();
    RequestHead head = RequestHead.of("POST", "/orders", Headers.of(KEYED));
    client.exchange = stage.exchanges.open(head, 2, PEER, client);
    service.say(yes());

    assertThat(stage.store.fingerprints()).containsExactly(Stage.fingerprint("{}"));
  }

  /** Delivers its body in the very call that asks for it, as the edge may do. */
  private static final class Eager implements ClientStream {
    private @Nullable Exchange exchange;

    @Override
    public void wantBody() {
      if (exchange != null) {
        exchange.body(new TextChunk("{}"));
        exchange.bodyEnd();
      }
    }

    @Override
    public void pauseBody() {}

    @Override
    public void resumeBody() {}

    @Override
    public void informational(dev.idempotency.gateway.http.ResponseHead head) {}

    @Override
    public void respond(Response response) {}

    @Override
    public void begin(dev.idempotency.gateway.http.ResponseHead head, long contentLength) {}

    @Override
    public void write(dev.idempotency.gateway.http.Chunk chunk) {
      chunk.release();
    }

    @Override
    public void end(Headers trailers) {}

    @Override
    public void flush() {}

    @Override
    public boolean takeBack() {
      return false;
    }

    @Override
    public void abort() {}

    @Override
    public boolean isWritable() {
      return true;
    }
  }

  @Test
  void callerWhoMayNoLongerGetsNoByteOfWhatIsStored() {
    Stage stage = asking();
    service.atOnce = yes();
    Stage.Call first = stage.request(PEER, 0, KEYED);
    first.exchange().bodyEnd();
    stage.store.existing(
        1,
        new Completed(
            new StoredResponse(
                201, new Headers(), "secret".getBytes(StandardCharsets.US_ASCII), new Headers())));
    assertThat(first.client().text()).isEqualTo("secret");
    int commands = stage.store.commands().size();
    service.atOnce = no(403);
    Stage.Call second = stage.request(PEER, 0, KEYED);
    second.exchange().bodyEnd();

    assertThat(second.client().status()).isEqualTo(403);
    assertThat(second.client().text()).isEqualTo("no");
    assertThat(second.client().headers().get("WWW-Authenticate")).isEqualTo("Custom");
    assertThat(stage.store.commands()).hasSize(commands);
    assertThat(stage.heard.results()).containsExactly(Result.REPLAYED, Result.DENIED);
  }

  @Test
  void callerWhoMayNotClaimsNothing() {
    Stage stage = asking();
    Stage.Call call = stage.request(PEER, 2, KEYED);
    service.say(no(401));
    TextChunk late = new TextChunk("{}");
    call.exchange().body(late);
    call.exchange().bodyEnd();

    assertThat(call.client().status()).isEqualTo(401);
    assertThat(call.client().isBodyWanted()).isFalse();
    assertThat(late.released()).isEqualTo(1);
    assertThat(stage.store.commands()).isEmpty();
    assertThat(stage.upstream.waiting()).isZero();
    assertThat(stage.exchanges.underWay()).isZero();
  }

  @Test
  void serviceThatCannotBeAskedRefusesWithTheTimeToComeAgain() {
    Stage stage = asking();
    Stage.Call call = stage.request(PEER, 0, KEYED);
    service.say(new Decision.Unavailable("it is away", false));

    assertThat(call.client().status()).isEqualTo(503);
    assertThat(call.client().problem()).isEqualTo("authorization-unavailable");
    assertThat(call.client().headers().get("Retry-After")).isEqualTo("1");
    assertThat(stage.store.commands()).isEmpty();
    assertThat(stage.heard.results()).containsExactly(Result.AUTHORIZATION_UNAVAILABLE);
  }

  @Test
  void serviceThatCannotBeAskedLetsRequestsOnWhereTheRouteSaysSo() {
    Stage stage = asking();
    Stage.Call call = stage.request(PEER, 0, "Idempotency-Key", "k", "X-User-Id", "forged");
    call.exchange().bodyEnd();
    service.say(new Decision.Unavailable("it is away", true));
    stage.store.acquire();

    assertThat(stage.upstream.connect().head().headers().contains("X-User-Id")).isFalse();
  }

  @Test
  void scopeThatOnlyTheServiceKnowsIsNotGuessedWhereItIsAway() {
    Stage stage = asking(new ScopePart.Authorized("X-User-Id"));
    Stage.Call call = stage.request(PEER, 0, "Idempotency-Key", "k", "X-User-Id", "forged");
    service.say(new Decision.Unavailable("it is away", true));

    assertThat(call.client().status()).isEqualTo(503);
    assertThat(stage.store.commands()).isEmpty();
  }

  @Test
  void whatTheServiceSaysGoesUpstreamAndWhatTheClientSaysDoesNot() {
    Stage stage = asking(new ScopePart.Authorized("X-Org"));
    Stage.Call call =
        stage.request(
            PEER, 0, "Idempotency-Key", "k", "X-User-Id", "forged", "X_User_Id", "forged");
    call.exchange().bodyEnd();
    service.say(yes("X-User-Id", "u1", "X-Org", "o"));
    stage.store.acquire();
    Headers sent = stage.upstream.connect().head().headers();

    assertThat(sent.all("X-User-Id")).containsExactly("u1");
    assertThat(sent.contains("X_User_Id")).isFalse();
    assertThat(sent.contains("X-Org")).isFalse();
    assertThat(sent.get("Idempotency-Attempt")).isEqualTo("1");
  }

  @Test
  void requestWithoutAKeyIsAskedAboutToo() {
    Stage stage =
        Stage.with()
            .optional()
            .callers(
                new Route.Callers(List.of(new ScopePart.TokenClaim("sub")), tokens, service, null))
            .open();
    Stage.Call call = stage.request(PEER, 0, "X-User-Id", "forged");
    call.exchange().bodyEnd();
    assertThat(stage.upstream.waiting()).isZero();
    service.say(yes("X-User-Id", "u1"));
    Connection connection = stage.upstream.connect();

    assertThat(connection.head().headers().all("X-User-Id")).containsExactly("u1");
    assertThat(connection.isEnded()).isTrue();
    assertThat(tokens.waiting).isEmpty();
    Stage.Call refused = stage.request(PEER, 0, "X-User-Id", "forged");
    service.say(no(403));
    assertThat(refused.client().status()).isEqualTo(403);
    assertThat(stage.upstream.waiting()).isZero();
  }

  @Test
  void methodThatIsNotKeyedIsNotAskedAboutAndForgesNothing() {
    Stage stage = asking();
    FakeClient client = new FakeClient();
    RequestHead head = RequestHead.of("GET", "/orders", Headers.of("X-User-Id", "forged"));
    stage.exchanges.open(head, 0, PEER, client).bodyEnd();

    assertThat(service.waiting).isEmpty();
    assertThat(stage.upstream.connect().head().headers().contains("X-User-Id")).isFalse();
  }

  @Test
  void storeThatIsAwayChangesNothingOfWhatTheServiceSaid() {
    Stage stage =
        Stage.with().bypass().callers(new Route.Callers(List.of(), null, service, null)).open();
    Stage.Call call = stage.request(PEER, 0, "Idempotency-Key", "k", "X-User-Id", "forged");
    call.exchange().bodyEnd();
    service.say(yes("X-User-Id", "u1"));
    stage.store.failNotExecuted();

    assertThat(stage.upstream.connect().head().headers().all("X-User-Id")).containsExactly("u1");
  }

  // ---- ends while it is asked

  @Test
  void clientThatGoesWhileTheServiceIsAskedLeavesNothing() {
    Stage stage = asking();
    Stage.Call call = stage.request(PEER, 0, KEYED);
    call.exchange().bodyEnd();
    call.exchange().clientGone();
    assertThat(call.exchange().isOver()).isTrue();
    service.say(yes());

    assertThat(stage.store.commands()).isEmpty();
    assertThat(call.client().hasHead()).isFalse();
    assertThat(stage.heard.results()).containsExactly(Result.CLIENT_GONE);
    assertThat(stage.exchanges.underWay()).isZero();
  }

  @Test
  void requestThatBreaksWhileTheServiceIsAskedIsABadOne() {
    Stage stage = asking();
    Stage.Call call = stage.request(PEER, -1, KEYED);
    call.exchange().requestBroken(400);
    service.say(yes());

    assertThat(stage.heard.results()).containsExactly(Result.BAD_REQUEST);
    assertThat(stage.exchanges.underWay()).isZero();
  }

  @Test
  void gatewayThatStopsWhileTheServiceIsAskedRefuses() {
    Stage stage = asking();
    Stage.Call call = stage.request(PEER, 0, KEYED);
    stage.exchanges.abandon();
    service.say(yes());

    assertThat(call.client().status()).isEqualTo(503);
    assertThat(call.client().problem()).isEqualTo("shutting-down");
    assertThat(stage.store.commands()).isEmpty();
    assertThat(stage.exchanges.underWay()).isZero();
  }

  // ---- tokens

  @Test
  void tokenThatDoesNotCountTouchesNothing() {
    Stage stage = verifying();
    Stage.Call call =
        stage.request(PEER, 0, "Idempotency-Key", "k", "Authorization", "bearer  t.t.t");
    assertThat(tokens.seen).isEqualTo("t.t.t");
    tokens.say(new TokenVerifier.Verdict.Invalid("it has expired"));

    assertThat(call.client().status()).isEqualTo(401);
    assertThat(call.client().problem()).isEqualTo("identity-invalid");
    assertThat(call.client().text()).contains("it has expired");
    assertThat(call.client().headers().get("WWW-Authenticate"))
        .isEqualTo("Bearer realm=\"idempotency-gateway\", error=\"invalid_token\"");
    assertThat(stage.store.commands()).isEmpty();
    assertThat(stage.heard.results()).containsExactly(Result.IDENTITY_INVALID);
  }

  @Test
  void tokenIsDemandedOnce() {
    Stage stage = verifying();
    Stage.Call none = stage.request(PEER, 0, KEYED);
    Stage.Call other = stage.request(PEER, 0, "Idempotency-Key", "k", "Authorization", "Basic x");
    Stage.Call empty = stage.request(PEER, 0, "Idempotency-Key", "k", "Authorization", "Bearer ");
    Stage.Call twice =
        stage.request(
            PEER, 0, "Idempotency-Key", "k", "Authorization", "Bearer a", "Authorization", "x");

    for (Stage.Call call : List.of(none, other, empty)) {
      assertThat(call.client().status()).isEqualTo(401);
      assertThat(call.client().problem()).isEqualTo("identity-missing");
      assertThat(call.client().headers().get("WWW-Authenticate"))
          .isEqualTo("Bearer realm=\"idempotency-gateway\"");
    }
    assertThat(twice.client().status()).isEqualTo(400);
    assertThat(tokens.waiting).isEmpty();
  }

  @Test
  void keysOfTokensThatAreAwayRefuseForNow() {
    Stage stage = verifying();
    Stage.Call call = stage.request(PEER, 0, "Idempotency-Key", "k", "Authorization", "Bearer a");
    tokens.say(new TokenVerifier.Verdict.Unavailable("no keys"));

    assertThat(call.client().status()).isEqualTo(503);
    assertThat(call.client().problem()).isEqualTo("authorization-unavailable");
  }

  @Test
  void claimOfTheTokenIsWhoseKeyItIs() {
    Stage stage = verifying();
    Stage.Call call = stage.request(PEER, 0, "Idempotency-Key", "k", "Authorization", "Bearer a");
    call.exchange().bodyEnd();
    tokens.say(new TokenVerifier.Verdict.Valid(Map.of("sub", "u1", "iss", "i")::get));

    assertThat(stage.store.commands()).containsExactly("reserve 1");
  }

  @Test
  void serviceIsAskedBeforeTheTokenIsLookedAt() {
    Stage stage =
        Stage.with()
            .callers(
                new Route.Callers(List.of(new ScopePart.TokenClaim("sub")), tokens, service, null))
            .open();
    stage.request(PEER, 0, "Idempotency-Key", "k", "Authorization", "Bearer a");
    assertThat(tokens.waiting).isEmpty();
    service.say(yes());

    assertThat(tokens.waiting).hasSize(1);
  }

  // ---- fields that anybody can write

  @Test
  void identityOfAStrangerIsNotBelievedWhereThereAreProxies() {
    Stage stage =
        Stage.with()
            .proxied()
            .callers(Route.Callers.of(List.of(new ScopePart.Header("X-Tenant"))))
            .open();
    Stage.Call forged = stage.request(PEER, 0, "Idempotency-Key", "k", "X-Tenant", "acme");
    forged.exchange().bodyEnd();
    assertThat(forged.client().status()).isEqualTo(401);
    assertThat(forged.client().problem()).isEqualTo("identity-missing");
    assertThat(stage.store.commands()).isEmpty();
    Peer proxy = new Peer("10.0.0.1", "http", "1.1", true, null);
    stage.request(proxy, 0, "Idempotency-Key", "k", "X-Tenant", "acme").exchange().bodyEnd();
    assertThat(stage.store.commands()).containsExactly("reserve 1");
  }
}
