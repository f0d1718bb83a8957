package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.SlowClients.Slow;
import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Received;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Five hundred connections that send almost nothing, beside clients that work. */
class SlowClientsTest {

  private static final int OF_EACH = 160;
  private static final int IN_HELLO = 20;
  private static final int WORKERS = 4;
  private static final String NEVER_ENDING = "x".repeat(1_000);

  @TempDir private Path files;

  private String yaml(String url) {
    X509Bundle server = Certificates.authority("Test CA").server();
    Path key = Certificates.write(files.resolve("gw.key"), server.getPrivateKeyPEM());
    Path certificate = Certificates.write(files.resolve("gw.crt"), server.getCertificatePathPEM());
    return EdgeYaml.of(url)
        .threads(2)
        .top(
            "listen:",
            "  - 127.0.0.1:0",
            "  - address: 127.0.0.1:0",
            "    tls: { certificate: \"" + certificate + "\", key: \"" + key + "\" }")
        .limits("head-timeout: 2s", "body-timeout: 2s", "body-rate: 1KiB", "idle-timeout: 5s")
        .toString();
  }

  private static String head(int number, int length) {
    return "POST /keyed/slow HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: slow-"
        + number
        + "\r\nContent-Length: "
        + length
        + "\r\n";
  }

  @Test
  void slowClientsAreEndedAtTheirDeadlinesWhileOthersAreServed() throws Exception {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(yaml(upstream.url()));
        SlowClients slow = new SlowClients()) {
      List<Slow> resting = new ArrayList<>();
      List<Slow> inHead = new ArrayList<>();
      List<Slow> inBody = new ArrayList<>();
      List<Slow> inHello = new ArrayList<>();
      for (int i = 0; i < OF_EACH; i++) {
        resting.add(slow.connect(gateway.port(), "", ""));
        inHead.add(slow.connect(gateway.port(), "", head(i, 0) + "X: " + NEVER_ENDING));
        String whole = head(i, NEVER_ENDING.length()) + "\r\n";
        inBody.add(slow.connect(gateway.port(), whole, NEVER_ENDING));
      }
      for (int i = 0; i < IN_HELLO; i++) {
        String begun = i % 2 == 0 ? "" : "\u0016\u0003\u0001\u0002\u0000\u0001";
        inHello.add(slow.connect(gateway.ports().get(1), begun, ""));
      }
      slow.drip();
      List<RawResponse> served = serveUntil(gateway.port(), slow);

      assertThat(served).hasSizeGreaterThanOrEqualTo(WORKERS);
      assertThat(served).allMatch(response -> response.status() == 200 && !response.isReplay());
      assertThat(inHead).extracting(Slow::heard).allMatch(text -> text.startsWith("HTTP/1.1 408"));
      assertThat(inBody).extracting(Slow::heard).allMatch(text -> text.startsWith("HTTP/1.1 408"));
      assertThat(resting).extracting(Slow::heard).containsOnly("");
      assertThat(inHello).extracting(Slow::heard).noneMatch(text -> text.contains("HTTP"));
      assertThat(upstream.received())
          .hasSize(served.size())
          .extracting(Received::line)
          .noneMatch(line -> line.contains("slow"));
      assertThatNothingIsLeft(gateway);
    }
  }

  /** Clients that work, each request on a connection of its own, until all slow ones have ended. */
  private static List<RawResponse> serveUntil(int port, SlowClients slow) throws Exception {
    AtomicBoolean enough = new AtomicBoolean();
    List<CompletableFuture<List<RawResponse>>> workers = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      String prefix = "worker-" + i + '-';
      workers.add(CompletableFuture.supplyAsync(() -> work(port, prefix, enough)));
    }
    await().atMost(Duration.ofSeconds(30)).until(slow::haveAllEnded);
    enough.set(true);
    List<RawResponse> all = new ArrayList<>();
    for (CompletableFuture<List<RawResponse>> worker : workers) {
      all.addAll(worker.get(20, TimeUnit.SECONDS));
    }
    return all;
  }

  private static List<RawResponse> work(int port, String prefix, AtomicBoolean enough) {
    List<RawResponse> answers = new ArrayList<>();
    do {
      byte[] request = post("/keyed/work", prefix + answers.size(), "{}");
      answers.add(RawClient.once(port, request));
    } while (!enough.get());
    return answers;
  }

  private static void assertThatNothingIsLeft(TestGateway gateway) {
    await().until(() -> gateway.gateway().heldBytes() == 0);
    await().until(() -> gateway.gateway().underWay() == 0);
    byte[] question = RawClient.request("GET", "/metrics", null, null, null);
    await()
        .until(
            () ->
                RawClient.once(gateway.adminPort(), question)
                    .text()
                    .contains("gateway_client_connections 0.0"));
    assertThat(RawClient.once(gateway.adminPort(), question).text())
        .contains("gateway_bugs_total 0.0")
        .contains("gateway_tls_handshake_failures_total " + IN_HELLO + ".0");
    // Their keys were never reserved: other content finds nothing to differ from.
    for (int i = 0; i < 3; i++) {
      RawResponse next = RawClient.once(gateway.port(), post("/keyed/slow", "slow-" + i, "{}"));
      assertThat(next.status()).isEqualTo(200);
      assertThat(next.isReplay()).isFalse();
    }
  }
}
