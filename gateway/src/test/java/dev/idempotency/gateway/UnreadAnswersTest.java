package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Clients that send and do not read. */
class UnreadAnswersTest {

  private static final int REQUESTS = 2_000;
  private static final byte[] LARGE = new byte[64 * 1024];

  @Test
  void pipelinedRetriesOfAClientThatDoesNotReadWait() {
    String retry =
        "POST /a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: k1\r\nContent-Length: 1\r\n\r\nx";
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start((request, wire) -> wire.respond(200, LARGE));
        TestGateway gateway = TestGateway.start(upstream.url(), "memory");
        RawClient client = RawClient.connect(gateway.port())) {
      assertThat(client.send(retry).read().status()).isEqualTo(200);
      client.send(retry.repeat(REQUESTS));

      // The sockets' buffers take some replays; then no more are made.
      await()
          .atMost(Duration.ofSeconds(30))
          .during(Duration.ofMillis(500))
          .until(() -> replays(gateway), new Steady());
      assertThat(replays(gateway)).isPositive().isLessThan(REQUESTS / 2);

      for (int i = 0; i < REQUESTS; i++) {
        assertThat(client.read().body()).hasSize(LARGE.length);
      }
    }
  }

  private static int replays(TestGateway gateway) {
    byte[] scrape = RawClient.request("GET", "/metrics", null, null, null);
    return RawClient.once(gateway.adminPort(), scrape)
        .text()
        .lines()
        .filter(line -> line.startsWith("gateway_requests_total{outcome=\"replayed\""))
        .mapToInt(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @Test
  void clientThatTakesNothingOfItsAnswerIsClosed() throws InterruptedException {
    CountDownLatch cut = new CountDownLatch(1);
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
                  try {
                    while (true) {
                      wire.send(LARGE);
                    }
                  } catch (IOException e) {
                    cut.countDown();
                    throw e;
                  }
                });
        TestGateway gateway =
            TestGateway.start(
                "limits: { body-timeout: 500ms }\n" + TestGateway.yaml(upstream.url(), "memory"));
        RawClient client = RawClient.connect(gateway.port())) {
      client.send("GET /a HTTP/1.1\r\nHost: gw.test\r\n\r\n");
      assertThat(cut.await(30, TimeUnit.SECONDS)).as("the upstream's connection ends").isTrue();
    }
  }

  /** Holds from the second look on for as long as the number stays what it was. */
  private static final class Steady extends org.hamcrest.BaseMatcher<Integer> {
    private int last = -1;

    @Override
    public boolean matches(Object actual) {
      boolean same = actual.equals(last);
      last = (Integer) actual;
      return same;
    }

    @Override
    public void describeTo(org.hamcrest.Description description) {
      description.appendText("a number that does not change");
    }
  }
}
