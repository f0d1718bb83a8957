package dev.idempotency.gateway.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.testing.PostgresServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demo upstream with its orders in a database. */
@Timeout(60)
class OrderTableTest {

  private final HttpClient client = HttpClient.newHttpClient();
  private final String key = "key-" + UUID.randomUUID();
  private DemoOrders demo;

  @BeforeEach
  void start() {
    demo = started();
  }

  @AfterEach
  void stop() {
    demo.close();
    demo.closed().toCompletableFuture().join();
  }

  private static DemoOrders started() {
    URI database = URI.create(PostgresServer.shared().url());
    return DemoOrders.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            DemoOptions.defaults().withOrders(database))
        .toCompletableFuture()
        .join();
  }

  private HttpRequest.Builder to(String target) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + demo.port() + target));
  }

  private HttpRequest order(String query, int attempt) {
    return to("/orders" + query)
        .header("Idempotency-Key", key)
        .header("Idempotency-Attempt", Integer.toString(attempt))
        .POST(BodyPublishers.ofString("{\"item\":\"book\"}"))
        .build();
  }

  private HttpResponse<String> send(HttpRequest request) throws Exception {
    return client.send(request, BodyHandlers.ofString());
  }

  private HttpResponse<String> asked(int attempt) throws Exception {
    HttpRequest.Builder question = to("/orders/by-key/" + key);
    return send(
        (attempt == 0
                ? question
                : question.header("Idempotency-Attempt", Integer.toString(attempt)))
            .build());
  }

  @Test
  void duplicateIsAnsweredFromTheTableAfterARestartToo() throws Exception {
    HttpResponse<String> first = send(order("", 1));
    HttpResponse<String> second = send(order("", 2));
    assertThat(demo.effects(key)).isEqualTo(1);
    stop();
    demo = started();
    HttpResponse<String> third = send(order("", 3));

    assertThat(first.statusCode()).isEqualTo(201);
    assertThat(List.of(second.body(), third.body())).containsOnly(first.body());
    assertThat(third.headers().firstValue("Location"))
        .isEqualTo(first.headers().firstValue("Location"));
    assertThat(demo.effects()).isZero();
  }

  @Test
  void ordersOfOneKeyAtOnceHaveOneEffect() {
    List<CompletableFuture<HttpResponse<String>>> answers =
        IntStream.range(0, 16)
            .mapToObj(i -> client.sendAsync(order("", 1), BodyHandlers.ofString()))
            .toList();
    Set<String> bodies =
        answers.stream().map(answer -> answer.join().body()).collect(Collectors.toSet());
    assertThat(bodies).hasSize(1);
    assertThat(demo.effects(key)).isEqualTo(1);
  }

  @Test
  void orderWhoseAnswerWasLostIsFoundByItsKey() throws Exception {
    assertThatThrownBy(() -> send(order("?drop=after", 1))).isInstanceOf(java.io.IOException.class);
    HttpResponse<String> found = asked(1);
    assertThat(found.statusCode()).isEqualTo(200);
    assertThat(found.body()).isEqualTo(send(order("", 2)).body());
    assertThat(demo.effects(key)).isEqualTo(1);
  }

  @Test
  void attemptThatWasToldNeverToHaveHappenedDoesNotHappenLater() throws Exception {
    assertThat(asked(1).statusCode()).isEqualTo(404);
    HttpResponse<String> late = send(order("", 1));
    assertThat(late.statusCode()).isEqualTo(409);
    assertThat(late.headers().firstValue("Idempotency-Outcome")).contains("released");
    assertThat(demo.effects(key)).isZero();
    assertThat(send(order("", 2)).statusCode()).isEqualTo(201);
    assertThat(asked(2).statusCode()).isEqualTo(200);
    assertThat(demo.effects(key)).isEqualTo(1);
  }

  @Test
  void keyThatIsAskedForWithoutAnAttemptStaysFree() throws Exception {
    assertThat(asked(0).statusCode()).isEqualTo(404);
    assertThat(send(order("", 1)).statusCode()).isEqualTo(201);
  }

  @Test
  void databaseThatIsAwayFailsTheStart() {
    assertThatThrownBy(
            () ->
                DemoOrders.start(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        DemoOptions.defaults()
                            .withOrders(URI.create("postgresql://nobody@127.0.0.1:1/none")))
                    .toCompletableFuture()
                    .join())
        .hasCauseInstanceOf(SQLException.class);
  }
}
