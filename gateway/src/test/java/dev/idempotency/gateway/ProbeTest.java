package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Received;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Operations of unknown outcome whose upstream can be asked what became of them. */
class ProbeTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final String RULE =
      "probe: { url: \"/by-key/{key}\", never: [404], grace: 0s, back-off: 100ms, status: 201 }";

  /** What a question is answered. */
  private final AtomicReference<String> answer = new AtomicReference<>("503");

  private volatile boolean loses = true;
  private ScriptedUpstream upstream;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    upstream =
        ScriptedUpstream.start(
            (request, wire) -> {
              if (request.line().startsWith("GET")) {
                String status = answer.get();
                wire.respond(Integer.parseInt(status), "the order", "Location: /orders/1");
              } else if (loses) {
                wire.cut();
              } else {
                wire.respond(201, "run again");
              }
            });
  }

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
  }

  private void start(String store, String sweep) {
    String[] route = {"unknown: probe", RULE};
    gateway =
        TestGateway.start(
                "sweep: { every: "
                    + sweep
                    + " }\n"
                    + TestGateway.yaml(upstream.url(), store, route))
            .ready();
  }

  private RawResponse send(String key) {
    return once(gateway.port(), post("/orders", key, "{}", "Authorization: Bearer alice"));
  }

  private List<Received> of(String method) {
    return upstream.received().stream()
        .filter(request -> request.line().startsWith(method))
        .toList();
  }

  @OnAllStores
  void lostAnswerIsFetchedForTheDuplicateAndReplayedFromThenOn(String store) {
    start(store, "1h");
    assertThat(send("k 1/ä").status()).isEqualTo(400);
    assertThat(send("k?1").status()).isEqualTo(502);
    answer.set("200");

    RawResponse replay = send("k?1");
    RawResponse again = send("k?1");

    assertThat(replay.status()).isEqualTo(201);
    assertThat(replay.text()).isEqualTo("the order");
    assertThat(replay.isReplay()).isTrue();
    assertThat(again.text()).isEqualTo("the order");
    assertThat(of("POST")).hasSize(1);
    assertThat(of("GET")).hasSize(1);
    Received question = of("GET").get(0);
    assertThat(question.line()).startsWith("GET /by-key/k%3F1 ");
    assertThat(question.header("Idempotency-Probe")).isEqualTo("true");
    assertThat(question.header("Idempotency-Attempt")).isEqualTo("1");
    assertThat(question.header("Authorization")).isEqualTo("Bearer alice");
  }

  @OnBothStores
  void keyThatWouldLeaveTheQuestionsUrlIsNotAskedAbout(String store) {
    start(store, "100ms");
    answer.set("200");
    for (String key : List.of("..", "a/b")) {
      assertThat(send(key).status()).isEqualTo(502);
      assertThat(send(key).text()).contains("outcome-unknown");
    }
    await().atMost(PATIENCE).until(() -> metrics().contains("finding=\"unaskable\""));

    assertThat(of("GET")).isEmpty();
    assertThat(of("POST")).hasSize(2);
  }

  @OnAllStores
  void whatNeverHappenedIsRunAgainAsTheNextAttempt(String store) {
    start(store, "1h");
    assertThat(send("k").status()).isEqualTo(502);
    answer.set("404");
    loses = false;

    RawResponse second = send("k");

    assertThat(second.status()).isEqualTo(201);
    assertThat(second.text()).isEqualTo("run again");
    assertThat(of("POST")).hasSize(2);
    assertThat(of("POST").get(1).header("Idempotency-Attempt")).isEqualTo("2");
    assertThat(send("k").isReplay()).isTrue();
  }

  @OnBothStores
  void whatNobodyKnowsIsHeldAndAskedAgainOnlyAfterAPause(String store) {
    start(store, "1h");
    assertThat(send("k").status()).isEqualTo(502);

    RawResponse held = send("k");
    RawResponse early = send("k");

    assertThat(held.status()).isEqualTo(409);
    assertThat(held.text()).contains("outcome-unknown");
    assertThat(held.header("Retry-After")).isNotNull();
    assertThat(early.status()).isEqualTo(409);
    assertThat(of("GET")).hasSize(1);
    assertThat(of("POST")).hasSize(1);
  }

  @OnBothStores
  void anotherRequestUnderTheKeyIsRefusedWithoutAQuestion(String store) {
    start(store, "1h");
    assertThat(send("k").status()).isEqualTo(502);

    RawResponse reuse =
        once(gateway.port(), post("/orders", "k", "{\"a\":1}", "Authorization: Bearer alice"));

    assertThat(reuse.status()).isEqualTo(422);
    assertThat(of("GET")).isEmpty();
  }

  @OnAllStores
  void lostAnswerIsFetchedBeforeTheClientAsks(String store) {
    start(store, "100ms");
    answer.set("200");
    assertThat(send("k").status()).isEqualTo(502);

    await()
        .atMost(PATIENCE)
        .until(() -> metrics().contains("finding=\"completed\",route=\"default\"} 1.0"));
    int questions = of("GET").size();
    RawResponse replay = send("k");

    assertThat(replay.isReplay()).isTrue();
    assertThat(replay.text()).isEqualTo("the order");
    assertThat(of("GET")).hasSize(questions);
    assertThat(of("GET").get(0).header("Authorization")).isNull();
    await()
        .atMost(PATIENCE)
        .until(() -> metrics().contains("gateway_open_operations{overdue=\"any\"} 0.0"));
  }

  @OnBothStores
  void sweeperLeavesWhatNeverHappenedToWhoCanRunItAgain(String store) {
    start(store, "100ms");
    answer.set("404");
    assertThat(send("k").status()).isEqualTo(502);
    await().atMost(PATIENCE).until(() -> metrics().contains("finding=\"never\","));
    loses = false;

    await().atMost(PATIENCE).until(() -> send("k").status() == 201);

    assertThat(of("POST")).hasSize(2);
    assertThat(of("POST").get(1).header("Idempotency-Attempt")).isEqualTo("2");
  }

  private String metrics() {
    return once(gateway.adminPort(), RawClient.request("GET", "/metrics", null, null, null)).text();
  }
}
