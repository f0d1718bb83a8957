package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.demo.DemoOptions;
import dev.idempotency.gateway.demo.DemoOrders;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.store.postgres.PostgresDatabase;
import dev.idempotency.gateway.store.postgres.PostgresIdempotencyStore;
import dev.idempotency.gateway.store.postgres.PostgresStoreOptions;
import dev.idempotency.gateway.testing.PostgresServer;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Gateways that share their records in PostgreSQL. */
class PostgresGatewaysTest {

  private static final String WAITING = "in-flight: wait 60s";

  private static String store(String url) {
    return "{ url: \"" + url + "\", timeout: 10s }";
  }

  private static TestGateway ready(ScriptedUpstream upstream, String store) {
    return TestGateway.start(upstream.url(), store).ready();
  }

  @Test
  void completedByOneGatewayIsReplayedByAnother() {
    String store = store(PostgresServer.shared().urlOfOwnSchema());
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway one = ready(upstream, store);
        TestGateway other = ready(upstream, store)) {
      RawResponse first = RawClient.once(one.port(), post("/orders", "k1", "{\"a\":1}"));
      RawResponse second = RawClient.once(other.port(), post("/orders", "k1", "{\"a\":1}"));
      RawResponse reused = RawClient.once(other.port(), post("/orders", "k1", "{\"a\":2}"));

      assertThat(first.status()).isEqualTo(200);
      assertThat(second.isReplay()).isTrue();
      assertThat(second.body()).isEqualTo(first.body());
      assertThat(reused.status()).isEqualTo(422);
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void keyThatManySendAtOnceIsForwardedOnce() {
    String store = store(PostgresServer.shared().urlOfOwnSchema());
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway one = ready(upstream, store);
        TestGateway other = ready(upstream, store)) {
      List<CompletableFuture<RawResponse>> answers =
          IntStream.range(0, 24)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                          () ->
                              RawClient.once(
                                  i % 2 == 0 ? one.port() : other.port(),
                                  post("/orders", "k2", "{\"a\":1}"))))
              .toList();
      assertThat(answers).allSatisfy(answer -> assertThat(answer.join().status()).isIn(200, 409));
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void duplicatesThatWaitAtOneGatewayAreAnsweredWhenTheOtherSettles() {
    String store = store(PostgresServer.shared().urlOfOwnSchema());
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    byte[] order = post("/orders", "k4", "{}");
    try (ScriptedUpstream upstream = ScriptedUpstream.start(gate::passAndAnswer);
        TestGateway one = TestGateway.start(upstream.url(), store, WAITING).ready();
        TestGateway other = TestGateway.start(upstream.url(), store, WAITING).ready();
        RawClient first = RawClient.connect(one.port()).send(order)) {
      await().until(() -> upstream.requests() == 1);
      List<RawClient> waiting =
          IntStream.range(0, 3).mapToObj(i -> RawClient.connect(other.port()).send(order)).toList();
      await().until(() -> other.gateway().waitingDuplicates() == 3);
      gate.open();

      RawResponse answer = first.read();
      for (RawClient client : waiting) {
        RawResponse replay = client.read();
        assertThat(replay.isReplay()).isTrue();
        assertThat(replay.body()).isEqualTo(answer.body());
        client.close();
      }
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @Test
  void gatewayWithoutItsDatabaseIsNotReadyAndForwardsNothingKeyed() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(
                upstream.url(), "{ url: \"postgresql://nobody@127.0.0.1:1/none\", timeout: 1s }")) {
      RawResponse refused = RawClient.once(gateway.port(), post("/orders", "k3", "{}"));
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.problem()).contains("store-unavailable");
      assertThat(gateway.isReady()).isFalse();
      assertThat(upstream.requests()).isZero();
    }
  }

  @Test
  void operationWhoseAnswerWasLostHealsByWhatTheServiceCommittedWithItsEffect() {
    String schema = PostgresServer.ownSchema();
    String url = PostgresServer.shared().url();
    String key = "key-" + UUID.randomUUID();
    DemoOrders demo = orders(URI.create(url));
    try (TestGateway gateway =
        TestGateway.start("http://127.0.0.1:" + demo.port(), store(url + "?schema=" + schema))) {
      await().until(gateway::isReady);
      byte[] order = post("/orders?drop=after", key, "{\"a\":1}");
      assertThat(RawClient.once(gateway.port(), order).problem()).contains("outcome-unknown");
      assertThat(RawClient.once(gateway.port(), order).status()).isEqualTo(409);

      RawResponse found =
          RawClient.once(
              demo.port(),
              RawClient.request(
                  "GET", "/orders/by-key/" + key, null, null, null, "Idempotency-Attempt: 1"));
      assertThat(found.status()).isEqualTo(200);
      complete(url + "?schema=" + schema, found);

      RawResponse replayed = RawClient.once(gateway.port(), order);
      assertThat(replayed.status()).isEqualTo(201);
      assertThat(replayed.isReplay()).isTrue();
      assertThat(replayed.body()).isEqualTo(found.body());
      assertThat(demo.effects(key)).isEqualTo(1);
      assertThat(demo.attempts(key)).isEqualTo(1);
    } finally {
      demo.close();
    }
  }

  private static DemoOrders orders(URI database) {
    return DemoOrders.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            DemoOptions.defaults().withOrders(database))
        .toCompletableFuture()
        .join();
  }

  /** What somebody does who has asked: completes the one operation that is unknown. */
  private static void complete(String url, RawResponse found) {
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try (PostgresDatabase database = PostgresDatabase.of(PostgresStoreOptions.of(url))) {
      OperationStore store = PostgresIdempotencyStore.on(database, group.next());
      await().until(database::reachable);
      List<OpenOperation> unknown =
          Fixtures.await(store.list(new Query("", Duration.ZERO, 10))).operations();
      assertThat(unknown).hasSize(1);
      StoredResponse response =
          new StoredResponse(
              201,
              Headers.of("Content-Type", "application/json", "Location", found.header("Location")),
              found.body(),
              new Headers());
      assertThat(
              Fixtures.await(
                  store.resolve(
                      Resolution.of(
                          unknown.get(0).id(),
                          1,
                          new Resolution.Complete(response),
                          Duration.ofHours(1),
                          new Audit("test", "found by its key")))))
          .isEqualTo(ResolveReply.DONE);
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }
}
