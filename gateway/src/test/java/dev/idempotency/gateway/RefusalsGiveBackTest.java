package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.ScriptedUpstream.Gate;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * Every way of refusing a request that has a body, again and again: what it took is given back. The
 * leak detector of all test classes watches the buffers.
 */
class RefusalsGiveBackTest {

  private static final int TIMES = 1_000;
  private static final String BODY = "x".repeat(6_000);
  private static final String WHO = "X-Who: me";

  private static String yaml(ScriptedUpstream upstream, ScriptedUpstream gone) {
    return String.join(
        "\n",
        "store: memory",
        "drain: 1s",
        "threads: 2",
        "limits: { body-budget: 1MiB }",
        "upstreams:",
        "  app: { url: \"" + upstream.url() + "\" }",
        "  gone: { url: \"" + gone.url() + "\" }",
        "routes:",
        "  - { name: gone, path: /gone, upstream: gone, idempotency: required }",
        "  - name: keyed",
        "    path: /**",
        "    upstream: app",
        "    idempotency: required",
        "    scope: [ \"header:X-Who\" ]",
        "    request: { limit: 8KiB }",
        "");
  }

  /** A request and the status that it is refused with. */
  private record Refused(byte[] request, int status) {}

  @Test
  void refusedRequestsGiveBackWhatTheyTook() {
    Gate gate = new Gate();
    ScriptedUpstream gone = ScriptedUpstream.ok();
    gone.close();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  if (request.line().contains("/held")) {
                    gate.pass();
                  }
                  wire.respond(200, "ok");
                });
        TestGateway gateway = TestGateway.start(yaml(upstream, gone))) {
      try (RawClient held = RawClient.connect(gateway.port())) {
        held.send(post("/held", "held", BODY, WHO));
        assertThat(once(gateway.port(), post("/a", "used", BODY, WHO)).status()).isEqualTo(200);
        await().until(() -> upstream.requests() == 2);
        long base = gateway.gateway().heldBytes();
        for (Refused refused : refusals()) {
          again(gateway, refused);
          await().until(() -> gateway.gateway().heldBytes() == base);
        }
        abortedInsideTheBody(gateway);
        pipelined(gateway);
        await().until(() -> gateway.gateway().heldBytes() == base);
        assertThat(upstream.requests()).isEqualTo(2);
        gate.open();
        assertThat(held.read().status()).isEqualTo(200);
      }
      await().until(() -> gateway.gateway().heldBytes() == 0);
    }
  }

  private static Refused[] refusals() {
    byte[] chunked =
        ("POST /a HTTP/1.1\r\nHost: gw.test\r\nX-Who: me\r\nIdempotency-Key: k\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
                + ("1000\r\n" + "x".repeat(0x1000) + "\r\n").repeat(3)
                + "0\r\n\r\n")
            .getBytes(StandardCharsets.ISO_8859_1);
    byte[] withoutKey =
        RawClient.request("POST", "/a", null, "text/plain", BODY.getBytes(StandardCharsets.UTF_8));
    return new Refused[] {
      new Refused(withoutKey, 400),
      new Refused(post("/a", "\"broken", BODY, WHO), 400),
      new Refused(post("/a", "k", BODY), 401),
      new Refused(post("/held", "held", BODY, WHO), 409),
      new Refused(post("/a", "k", BODY + BODY, WHO), 413),
      new Refused(chunked, 413),
      new Refused(post("/a", "used", BODY + "y", WHO), 422),
      new Refused(post("/gone", "k", BODY), 502),
    };
  }

  /** On connections that are kept where they may be. */
  private static void again(TestGateway gateway, Refused refused) {
    RawClient client = RawClient.connect(gateway.port());
    for (int i = 0; i < TIMES; i++) {
      sendAsFarAsItGoes(client, refused.request);
      RawResponse response = client.read();
      assertThat(response.status()).isEqualTo(refused.status);
      if ("close".equals(response.header("Connection"))) {
        client.close();
        client = RawClient.connect(gateway.port());
      }
    }
    client.close();
  }

  private static void sendAsFarAsItGoes(RawClient client, byte[] request) {
    try {
      client.send(request);
    } catch (UncheckedIOException e) {
      // The answer came first.
    }
  }

  private static void abortedInsideTheBody(TestGateway gateway) {
    byte[] request = post("/a", "aborted", BODY, WHO);
    for (int i = 0; i < TIMES; i++) {
      RawClient client = RawClient.connect(gateway.port());
      client.send(Arrays.copyOf(request, request.length - 1 - i));
      if (i % 2 == 0) {
        client.reset();
      } else {
        client.close();
      }
    }
  }

  /** Behind a refusal that ends the connection and one that does not. */
  private static void pipelined(TestGateway gateway) {
    byte[] reused = post("/a", "used", BODY + "y", WHO);
    byte[] large = post("/a", "k", BODY + BODY, WHO);
    for (int i = 0; i < TIMES / 5; i++) {
      try (RawClient client = RawClient.connect(gateway.port())) {
        sendAsFarAsItGoes(client, join(reused, reused, large, reused, reused));
        assertThat(client.read().status()).isEqualTo(422);
        assertThat(client.read().status()).isEqualTo(422);
        assertThat(client.read().status()).isEqualTo(413);
      }
    }
  }

  private static byte[] join(byte[]... parts) {
    int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
    byte[] joined = new byte[length];
    int at = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, joined, at, part.length);
      at += part.length;
    }
    return joined;
  }
}
