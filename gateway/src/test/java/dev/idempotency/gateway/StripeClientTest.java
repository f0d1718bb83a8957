package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.stripe.StripeClient;
import com.stripe.exception.IdempotencyException;
import com.stripe.exception.StripeException;
import com.stripe.model.PaymentIntent;
import com.stripe.net.RequestOptions;
import com.stripe.param.PaymentIntentCreateParams;
import dev.idempotency.gateway.testing.FaultProxy;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The retries of a payment API's own client, through a gateway of {@code stripe-like.yaml}. */
class StripeClientTest {

  private final ScriptedUpstream upstream =
      ScriptedUpstream.start((request, wire) -> wire.respond(200, intent(), JSON));
  private TestGateway gateway;
  private FaultProxy network;
  private StripeClient stripe;

  private static final String JSON = "Content-Type: application/json";

  private String intent() {
    return "{\"id\":\"pi_"
        + upstream.requests()
        + "\",\"object\":\"payment_intent\",\"amount\":2000,\"currency\":\"eur\","
        + "\"status\":\"succeeded\"}";
  }

  @BeforeEach
  void start() throws IOException {
    gateway = TestGateway.start(configuration(upstream.url()));
    network = FaultProxy.to("127.0.0.1", gateway.port());
    stripe =
        StripeClient.builder()
            .setApiKey("sk_test_of_nobody")
            .setApiBase("http://127.0.0.1:" + network.port())
            .setMaxNetworkRetries(8)
            .build();
  }

  /** The file as it is, with a store, an upstream and ports that are there. */
  private static String configuration(String url) throws IOException {
    return Files.readString(Path.of("..", "config", "stripe-like.yaml"))
        .replace("redis://redis:6379", "memory")
        .replace("http://api:3000", url)
        .lines()
        .filter(line -> !line.startsWith("listen:") && !line.startsWith("admin:"))
        .collect(Collectors.joining("\n", "", "\ndrain: 1s\n"));
  }

  @AfterEach
  void stop() {
    network.close();
    gateway.close();
    upstream.close();
  }

  private PaymentIntent create(String key, long amount) throws StripeException {
    PaymentIntentCreateParams intent =
        PaymentIntentCreateParams.builder().setAmount(amount).setCurrency("eur").build();
    return key == null
        ? stripe.paymentIntents().create(intent)
        : stripe
            .paymentIntents()
            .create(intent, RequestOptions.builder().setIdempotencyKey(key).build());
  }

  private static boolean isReplay(PaymentIntent intent) {
    return intent.getLastResponse().headers().firstValue("Idempotent-Replayed").isPresent();
  }

  @Test
  void answerThatIsLostOnItsWayIsReplayedToTheRetry() throws StripeException {
    network.swallowNextReply();
    PaymentIntent intent = create(null, 2000);

    assertThat(network.hasSwallowed()).isTrue();
    assertThat(intent.getId()).isEqualTo("pi_1");
    assertThat(isReplay(intent)).isTrue();
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void retryOfWhatIsInFlightIsTriedAgainUntilItIsReplayed() {
    Gate gate = new Gate();
    upstream.script(
        (request, wire) -> {
          gate.pass();
          wire.respond(200, intent(), JSON);
        });
    CompletableFuture<PaymentIntent> first = CompletableFuture.supplyAsync(() -> of("k", 2000));
    await().until(() -> upstream.requests() == 1);
    CompletableFuture<PaymentIntent> second = CompletableFuture.supplyAsync(() -> of("k", 2000));
    await().until(this::hasRefusedWhatIsInFlight);
    gate.open();

    assertThat(isReplay(first.join())).isFalse();
    assertThat(isReplay(second.join())).isTrue();
    assertThat(second.join().getId()).isEqualTo(first.join().getId());
    assertThat(upstream.requests()).isEqualTo(1);
  }

  private PaymentIntent of(String key, long amount) {
    try {
      return create(key, amount);
    } catch (StripeException e) {
      throw new IllegalStateException(e);
    }
  }

  private boolean hasRefusedWhatIsInFlight() {
    byte[] question = RawClient.request("GET", "/metrics", null, null, null);
    return RawClient.once(gateway.adminPort(), question)
        .text()
        .lines()
        .anyMatch(
            line ->
                line.startsWith("gateway_requests_total")
                    && line.contains("outcome=\"in_flight\"")
                    && !line.endsWith(" 0.0"));
  }

  @Test
  void keyOfAnotherRequestIsAnErrorOfItsOwnKind() throws StripeException {
    create("k", 2000);
    IdempotencyException reused =
        catchThrowableOfType(IdempotencyException.class, () -> create("k", 2001));

    assertThat(reused.getStatusCode()).isEqualTo(400);
    assertThat(reused.getCode()).isEqualTo("key_reused");
    assertThat(reused.getMessage()).contains("The idempotency key is used for another request");
    assertThat(upstream.requests()).isEqualTo(1);
    assertThat(network.accepted()).as("it is not tried again").isLessThanOrEqualTo(2);
  }
}
