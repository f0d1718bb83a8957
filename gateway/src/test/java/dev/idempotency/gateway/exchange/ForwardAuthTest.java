package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.Authorizer.Decision;
import dev.idempotency.gateway.exchange.Authorizer.Decision.Allowed;
import dev.idempotency.gateway.exchange.Authorizer.Decision.Denied;
import dev.idempotency.gateway.exchange.Authorizer.Decision.Unavailable;
import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.ResponseHead;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A service is asked whether a caller may. */
class ForwardAuthTest {

  private static final Peer PEER = new Peer("192.0.2.1", "https", "1.1", false, null);

  private final FakeUpstream service = new FakeUpstream();
  private final HandScheduler scheduler = new HandScheduler();
  private final HeardEvents heard = new HeardEvents();
  private final List<Decision> decisions = new ArrayList<>();

  private ForwardAuth auth(Duration cache, boolean open) {
    return new ForwardAuth(
        "orders",
        new ForwardAuthOptions("/check", Duration.ofSeconds(1), cache, open, Set.of("x-user-id")),
        KeyRule.header("Idempotency-Key"),
        List.of(new ScopePart.Authorized("X-Org")),
        service,
        scheduler,
        AddressRanges.NONE,
        heard);
  }

  private void ask(ForwardAuth auth, String... fields) {
    ask(auth, "/orders?a=1", PEER, fields);
  }

  private void ask(ForwardAuth auth, String target, Peer peer, String... fields) {
    auth.authorize(RequestHead.of("POST", target, Headers.of(fields)), peer, decisions::add);
  }

  private Decision only() {
    assertThat(decisions).hasSize(1);
    return decisions.get(0);
  }

  // ---- the question

  @Test
  void serviceGetsTheCallersFieldsAndWhatTheRequestIsFor() {
    ask(
        auth(Duration.ZERO, false),
        "Host",
        "api.test",
        "Authorization",
        "Bearer x",
        "Cookie",
        "s=1",
        "Content-Length",
        "7",
        "Transfer-Encoding",
        "chunked",
        "Expect",
        "100-continue",
        "Upgrade",
        "h2c",
        "Connection",
        "X-Hop",
        "X-Hop",
        "1",
        "If-None-Match",
        "*",
        "Range",
        "bytes=0-1",
        "X-Forwarded-For",
        "203.0.113.9",
        "X-Forwarded-Method",
        "GET",
        "X_Forwarded_Uri",
        "/public",
        "X-Forwarded-Uri",
        "/public");
    RequestHead question = service.connect().head();

    assertThat(question.method()).isEqualTo("GET");
    assertThat(question.target()).isEqualTo("/check");
    Headers fields = question.headers();
    assertThat(fields.all("Authorization")).containsExactly("Bearer x");
    assertThat(fields.all("Cookie")).containsExactly("s=1");
    assertThat(fields.all("X-Forwarded-Method")).containsExactly("POST");
    assertThat(fields.all("X-Forwarded-Uri")).containsExactly("/orders?a=1");
    assertThat(fields.all("X-Forwarded-Host")).containsExactly("api.test");
    assertThat(fields.all("X-Forwarded-Proto")).containsExactly("https");
    assertThat(fields.all("X-Forwarded-For")).containsExactly("192.0.2.1");
    for (String gone :
        List.of(
            "Content-Length",
            "Transfer-Encoding",
            "Expect",
            "Upgrade",
            "Connection",
            "X-Hop",
            "If-None-Match",
            "Range",
            "X_Forwarded_Uri")) {
      assertThat(fields.all(gone)).as(gone).isEmpty();
    }
  }

  // ---- the answer

  @ParameterizedTest
  @ValueSource(ints = {200, 204, 299})
  void successIsAYesWithTheFieldsThatSomebodyWants(int status) {
    ask(auth(Duration.ZERO, false));
    answer(
        service.connect().receiver(),
        status,
        "",
        "X-User-Id",
        "u1",
        "X-Org",
        "o1",
        "X-Other",
        "x",
        "Set-Cookie",
        "s=2");

    assertThat(only()).isInstanceOf(Allowed.class);
    Headers said = ((Allowed) only()).answered();
    assertThat(said.toString()).isEqualTo("[X-User-Id, X-Org]");
    assertThat(heard.events()).containsExactly("orders allowed");
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 403})
  void noIsPassedOnAsItCame(int status) {
    ask(auth(Duration.ofSeconds(5), true));
    answer(
        service.connect().receiver(),
        status,
        "who?",
        "WWW-Authenticate",
        "Bearer realm=\"x\"",
        "Content-Type",
        "text/plain",
        "Connection",
        "X-Hop",
        "X-Hop",
        "1");

    Denied denied = (Denied) only();
    assertThat(denied.response().status()).isEqualTo(status);
    assertThat(new String(denied.response().body(), java.nio.charset.StandardCharsets.US_ASCII))
        .isEqualTo("who?");
    assertThat(denied.response().head().headers().toString())
        .isEqualTo("[WWW-Authenticate, Content-Type]");
    assertThat(heard.events()).containsExactly("orders denied");
  }

  @Test
  void noWithALongBodyIsANoWithoutIt() {
    ask(auth(Duration.ZERO, true));
    Connection connection = service.connect();
    connection
        .receiver()
        .head(new ResponseHead(403, Headers.of("Content-Type", "text/plain", "X-A", "1")), -1);
    TextChunk first = new TextChunk("x".repeat(64 << 10));
    TextChunk over = new TextChunk("x");
    connection.receiver().chunk(first);
    assertThat(decisions).isEmpty();
    connection.receiver().chunk(over);

    Denied denied = (Denied) only();
    assertThat(denied.response().body()).isEmpty();
    assertThat(denied.response().head().headers().toString()).isEqualTo("[X-A]");
    assertThat(connection.isCancelled()).isTrue();
    assertThat(first.released()).isEqualTo(1);
    assertThat(over.released()).isEqualTo(1);
  }

  @Test
  void noThatIsCutOffIsANoEvenWhereRequestsGoOnWithoutAnAnswer() {
    ask(auth(Duration.ZERO, true));
    Connection connection = service.connect();
    connection.receiver().head(new ResponseHead(401, Headers.of("WWW-Authenticate", "x")), 10);
    connection.receiver().failed(ResponseReceiver.Failure.CLOSED);

    assertThat(((Denied) only()).response().status()).isEqualTo(401);
  }

  @ParameterizedTest
  @ValueSource(ints = {302, 304, 400, 404, 429, 500, 503})
  void everythingElseIsNoAnswer(int status) {
    ask(auth(Duration.ofSeconds(5), false));
    answer(service.connect().receiver(), status, "");
    ask(auth(Duration.ofSeconds(5), true));
    answer(service.connect().receiver(), status, "");

    assertThat(decisions).hasOnlyElementsOfType(Unavailable.class);
    assertThat(((Unavailable) decisions.get(0)).open()).isFalse();
    // What blames the question may be the client's doing, so it opens nothing.
    assertThat(((Unavailable) decisions.get(1)).open()).isEqualTo(status >= 500);
    assertThat(heard.events())
        .containsExactly(
            "orders unavailable", status >= 500 ? "orders let_through" : "orders unavailable");
  }

  @Test
  void questionThatWasAnsweredIsNotHeldUntilItsTimeWouldBeUp() {
    ForwardAuth auth = auth(Duration.ZERO, false);
    for (int i = 0; i < 3; i++) {
      ask(auth);
    }
    Connection first = service.connect();
    answer(service.connect().receiver(), 403, "no");
    assertThat(auth.held()).isEqualTo(3);
    answer(first.receiver(), 403, "no");

    assertThat(auth.held()).isEqualTo(1);
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(auth.held()).isZero();
    assertThat(decisions).hasSize(3);
  }

  // ---- time and failures

  @Test
  void serviceThatCannotBeReachedIsNoAnswer() {
    ask(auth(Duration.ZERO, false));
    service.refuse(Upstream.Refusal.UNREACHABLE);

    assertThat(only()).isInstanceOf(Unavailable.class);
  }

  @Test
  void connectionThatDoesNotComeInTimeIsGivenBack() {
    ask(auth(Duration.ZERO, false));
    scheduler.advance(Duration.ofMillis(999));
    assertThat(decisions).isEmpty();
    scheduler.advance(Duration.ofMillis(1));
    assertThat(only()).isInstanceOf(Unavailable.class);
    Connection late = service.connect();

    assertThat(late.isGivenBack()).isTrue();
    assertThat(late.isSent()).isFalse();
  }

  @Test
  void answerThatDoesNotComeInTimeIsGivenUp() {
    ForwardAuth auth = auth(Duration.ZERO, false);
    ask(auth);
    Connection slow = service.connect();
    scheduler.advance(Duration.ofMillis(500));
    ask(auth);
    Connection other = service.connect();
    scheduler.advance(Duration.ofMillis(500));

    assertThat(only()).isInstanceOf(Unavailable.class);
    assertThat(slow.isCancelled()).isTrue();
    assertThat(other.isCancelled()).isFalse();
    scheduler.advance(Duration.ofMillis(500));
    assertThat(decisions).hasSize(2);
    assertThat(other.isCancelled()).isTrue();
  }

  @Test
  void questionThatWasAnsweredIsNotGivenUpLater() {
    ask(auth(Duration.ZERO, false));
    Connection connection = service.connect();
    answer(connection.receiver(), 204, "");
    scheduler.advance(Duration.ofSeconds(2));

    assertThat(connection.isCancelled()).isFalse();
    assertThat(decisions).hasSize(1);
  }

  @Test
  void connectionThatWasClosedAtRestIsReplacedOnce() {
    ask(auth(Duration.ZERO, false));
    service.connectDead();
    service.connect().receiver().failed(ResponseReceiver.Failure.CLOSED);
    assertThat(decisions).isEmpty();
    service.connect().receiver().failed(ResponseReceiver.Failure.CLOSED);

    assertThat(only()).isInstanceOf(Unavailable.class);
    assertThat(service.waiting()).isZero();
  }

  @Test
  void answerThatIsCutOffOrNoHttpIsNotAskedForAgain() {
    ask(auth(Duration.ZERO, false));
    Connection cut = service.connect();
    cut.receiver().head(new ResponseHead(200, new Headers()), 10);
    cut.receiver().failed(ResponseReceiver.Failure.CLOSED);
    ask(auth(Duration.ZERO, false));
    service.connect().receiver().failed(ResponseReceiver.Failure.MALFORMED);

    assertThat(decisions).hasSize(2).hasOnlyElementsOfType(Unavailable.class);
    assertThat(service.waiting()).isZero();
  }

  // ---- a yes that is remembered

  @Test
  void yesCountsAgainForAnEqualQuestionUntilItsTimeIsUp() {
    ForwardAuth auth = auth(Duration.ofSeconds(5), false);
    ask(auth, "Authorization", "Bearer x", "Idempotency-Key", "k1", "traceparent", "1");
    answer(service.connect().receiver(), 200, "", "X-User-Id", "u1");
    scheduler.advance(Duration.ofMillis(4999));
    ask(auth, "Authorization", "Bearer x", "Idempotency-Key", "k2", "traceparent", "2");

    assertThat(decisions).hasSize(2);
    assertThat(((Allowed) decisions.get(1)).answered().get("x-user-id")).isEqualTo("u1");
    assertThat(heard.events()).containsExactly("orders allowed", "orders remembered");
    scheduler.advance(Duration.ofMillis(1));
    ask(auth, "Authorization", "Bearer x", "Idempotency-Key", "k3");
    assertThat(service.waiting()).isEqualTo(1);
  }

  @Test
  void yesIsNotForAnotherCallerOrRequest() {
    ForwardAuth auth = auth(Duration.ofSeconds(5), false);
    ask(auth, "Authorization", "Bearer x");
    answer(service.connect().receiver(), 200, "");
    ask(auth, "Authorization", "Bearer y");
    ask(auth);
    ask(auth, "Authorization", "Bearer x", "X-Tenant", "b");
    ask(auth, "Authorization", "Bearer x", "baggage", "tenant=b");
    ask(auth, "/orders?a=2", PEER, "Authorization", "Bearer x");
    Peer elsewhere = new Peer("192.0.2.2", "https", "1.1", false, null);
    ask(auth, "/orders?a=1", elsewhere, "Authorization", "Bearer x");
    Peer named = new Peer("192.0.2.1", "https", "1.1", false, "CN=b");
    ask(auth, "/orders?a=1", named, "Authorization", "Bearer x");

    assertThat(service.waiting()).isEqualTo(7);
    ask(auth, "Authorization", "Bearer x");
    assertThat(service.waiting()).isEqualTo(7);
  }

  @Test
  void fieldsDoNotRunTogetherInWhatIsRemembered() {
    ForwardAuth auth = auth(Duration.ofSeconds(5), false);
    ask(auth, "A", "1", "B", "2");
    answer(service.connect().receiver(), 200, "");
    ask(auth, "A", "1B2");
    ask(auth, "A1", "B2");

    assertThat(service.waiting()).isEqualTo(2);
  }

  @Test
  void noAndNoAnswerAreAskedAnew() {
    ForwardAuth auth = auth(Duration.ofSeconds(5), true);
    ask(auth);
    answer(service.connect().receiver(), 403, "");
    ask(auth);
    answer(service.connect().receiver(), 500, "");
    ask(auth);

    assertThat(service.waiting()).isEqualTo(1);
  }

  @Test
  void yesIsAskedAnewEachTimeWhereNothingIsRemembered() {
    ForwardAuth auth = auth(Duration.ZERO, false);
    ask(auth);
    answer(service.connect().receiver(), 200, "");
    ask(auth);

    assertThat(service.waiting()).isEqualTo(1);
  }

  @Test
  void onlySoManyAreRemembered() {
    RememberedYes known = new RememberedYes(Duration.ofSeconds(5), KeyRule.header("K"), scheduler);
    for (int i = 0; i < 10_050; i++) {
      RequestHead head = RequestHead.of("GET", "/check", Headers.of("A", "" + i));
      known.put(known.of(head, PEER), new Headers());
    }
    assertThat(known.size()).isEqualTo(10_000);
  }
}
