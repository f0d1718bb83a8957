package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a configuration says of hosts, paths, bodies' pace and routes' fields, seen from outside.
 */
class EdgeOptionsTest {

  private static RawResponse get(TestGateway gateway, String target, String host) {
    String request = "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    return RawClient.once(gateway.port(), request.getBytes(StandardCharsets.ISO_8859_1));
  }

  @Test
  void hostThatIsNotNamedIsMisdirected() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start("hosts: [gw.test, \"[::1]\"]\n" + EdgeYaml.of(upstream.url()))) {
      assertThat(get(gateway, "/a", "gw.test").status()).isEqualTo(200);
      assertThat(get(gateway, "/a", "GW.test:8080").status()).isEqualTo(200);
      assertThat(get(gateway, "/a", "[::1]:80").status()).isEqualTo(200);
      RawResponse refusal = get(gateway, "/a", "other.test");
      assertThat(refusal.status()).isEqualTo(421);
      assertThat(refusal.problem()).isEqualTo("misdirected-request");
      assertThat(get(gateway, "http://other.test/a", "other.test").status()).isEqualTo(421);
      assertThat(get(gateway, "http://other.test/a", "gw.test").status()).isEqualTo(400);
      assertThat(upstream.requests()).isEqualTo(3);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "encoded-slash, /a%2Fb,  /a/..%2Fb",
    "semicolon,     /a;v=1,  /a/..;v=1/b",
    "empty-segment, //a,     //a/../b"
  })
  void spellingThatIsKeptGoesUpstreamAsItCameAndDotSegmentsNever(
      String rule, String kept, String climbing) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway strict = EdgeYaml.of(upstream.url()).start();
        TestGateway lenient =
            TestGateway.start("paths: { " + rule + ": keep }\n" + EdgeYaml.of(upstream.url()))) {
      assertThat(get(strict, kept, "gw.test").text()).contains("rule " + rule);
      assertThat(get(lenient, climbing, "gw.test").text()).contains("rule dot-segment");
      assertThat(upstream.requests()).isZero();
      assertThat(get(lenient, kept, "gw.test").status()).isEqualTo(200);
      assertThat(upstream.last().line()).isEqualTo("GET " + kept + " HTTP/1.1");
    }
  }

  @Test
  void twoSpellingsOfOnePathAreOneOperation() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = EdgeYaml.of(upstream.url()).start()) {
      assertThat(RawClient.once(gateway.port(), RawClient.post("/%6beyed/a", "k", "{}")).status())
          .isEqualTo(200);
      assertThat(RawClient.once(gateway.port(), RawClient.post("/keyed/%61", "k", "{}")).isReplay())
          .isTrue();
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(upstream.last().line()).isEqualTo("POST /keyed/a HTTP/1.1");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a", "/keyed/a"})
  void bodyThatDripsIsRefusedAlthoughItNeverStops(String target) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            EdgeYaml.of(upstream.url()).limits("body-timeout: 1s", "body-rate: 100KiB").start();
        RawClient client = RawClient.connect(gateway.port())) {
      byte[] request = RawClient.post(target, "k1", "x".repeat(5_000));
      Thread dripping =
          new Thread(
              () -> {
                try {
                  for (int at = 0; at < request.length; at++) {
                    int count = at == 0 ? request.length - 5_000 : 1;
                    client.send(new String(request, at, count, StandardCharsets.US_ASCII));
                    at += count - 1;
                    await().pollDelay(20, TimeUnit.MILLISECONDS).until(() -> true);
                  }
                } catch (UncheckedIOException e) {
                  // Refused.
                }
              });
      dripping.setDaemon(true);
      dripping.start();
      RawResponse response = client.read();
      assertThat(response.status()).isEqualTo(408);
      assertThat(response.header("Connection")).isEqualTo("close");
    }
  }

  @Test
  void fieldOfTheRoutesKeyOrScopeMustNotBeNominated() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway =
            TestGateway.start(
                upstream.url(),
                "memory",
                "key: { header: X-Op-Id }",
                "scope: [ \"header:X-Tenant\" ]",
                "idempotency: optional")) {
      for (String name : new String[] {"X-Op-Id", "x_op_id", "keep-alive, X-TENANT", "x_tenant"}) {
        byte[] request =
            RawClient.post("/o", null, "{}", "X-Op-Id: k", "X-Tenant: a", "Connection: " + name);
        assertThat(RawClient.once(gateway.port(), request).problem()).isEqualTo("bad-request");
      }
      assertThat(upstream.requests()).isZero();
      byte[] request =
          RawClient.post("/o", null, "{}", "X-Op-Id: k", "X-Tenant: a", "Connection: X-Other");
      assertThat(RawClient.once(gateway.port(), request).status()).isEqualTo(200);
    }
  }

  @Test
  void optionsOfTheServerLeaveTheConnectionOpen() {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = EdgeYaml.of(upstream.url()).start();
        RawClient client = RawClient.connect(gateway.port())) {
      client.send("OPTIONS * HTTP/1.1\r\nHost: gw.test\r\n\r\n");
      assertThat(client.read().header("Allow")).contains("POST");
      client.send("OPTIONS /a HTTP/1.1\r\nHost: gw.test\r\nMax-Forwards: 0\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(204);
      client.send("OPTIONS /a HTTP/1.1\r\nHost: gw.test\r\nMax-Forwards: 2\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(upstream.last().header("Max-Forwards")).isEqualTo("1");
    }
  }
}
