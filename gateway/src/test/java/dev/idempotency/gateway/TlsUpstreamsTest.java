package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.upstream.TlsOptions;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Upstreams over TLS. */
@ParameterizedClass
@MethodSource("dev.idempotency.gateway.TlsEdge$Stack#all")
class TlsUpstreamsTest {

  private static final Certificates AUTHORITY = Certificates.authority("Test CA");

  private final TlsEdge.Stack stack;
  private final Path files;
  private final ScriptedUpstream upstream =
      ScriptedUpstream.ok().tls(AUTHORITY.context(AUTHORITY.server()));
  private TlsEdge edge;

  TlsUpstreamsTest(TlsEdge.Stack stack, @TempDir Path files) {
    this.stack = stack;
    this.files = files;
  }

  @AfterEach
  void stop() {
    if (edge != null) {
      edge.close();
      assertThat(edge.bugs()).isEmpty();
    }
    upstream.close();
  }

  private Path authorities() {
    return Certificates.write(files.resolve("ca.pem"), AUTHORITY.bundle().getCertificatePEM());
  }

  private TlsEdge.Wishes wishes() {
    return TlsEdge.of(stack, upstream).upstream(new TlsOptions(authorities(), null, null, null));
  }

  private RawResponse post(String key) {
    return RawClient.once(edge.port(), RawClient.post("/keyed/a", key, "{}"));
  }

  @Test
  void aKeyedRequestIsForwardedOnceAndConnectionsAreUsedAgain() {
    edge = wishes().start();
    for (int i = 0; i < 5; i++) {
      assertThat(post("k-" + i).text()).isEqualTo("ok");
      assertThat(post("k-" + i).isReplay()).isTrue();
    }
    assertThat(upstream.requests()).isEqualTo(5);
    assertThat(upstream.connections()).isEqualTo(1);
  }

  @Test
  void theHostNameIsVerifiedToo() {
    edge = wishes().host("localhost").start();
    assertThat(post("k").status()).isEqualTo(200);
  }

  @Test
  void theConfiguredNameIsTheOneThatCounts() {
    upstream.tls(
        AUTHORITY.context(
            AUTHORITY.issue(it -> it.subject("CN=x").addSanDnsName("orders.internal"))));
    edge =
        TlsEdge.of(stack, upstream)
            .upstream(new TlsOptions(authorities(), null, null, "orders.internal"))
            .start();
    assertThat(post("k").status()).isEqualTo(200);
  }

  static Stream<Arguments> untrusted() {
    X509Bundle stranger = Certificates.authority("Another CA").server();
    return Stream.of(
        Arguments.of("another authority's", stranger),
        Arguments.of("expired", AUTHORITY.expired()),
        Arguments.of("self-signed", Certificates.selfSigned()),
        Arguments.of(
            "another address'",
            AUTHORITY.issue(it -> it.subject("CN=127.0.0.1").addSanIpAddress("127.0.0.2"))),
        Arguments.of(
            "another name's",
            AUTHORITY.issue(it -> it.subject("CN=127.0.0.1").addSanDnsName("other.test"))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("untrusted")
  void aCertificateThatIsNotTrustedGetsNothingAndTheKeyStaysFree(String kind, X509Bundle shown) {
    upstream.tls(AUTHORITY.context(shown));
    edge = wishes().start();
    RawResponse refused = post("k");
    assertThat(refused.status()).as(kind).isEqualTo(502);
    assertThat(refused.problem()).isEqualTo("upstream-unreachable");
    assertThat(refused.text()).contains("Nothing was sent").contains("TLS");
    assertThat(refused.header("Retry-After")).isNotNull();
    assertThat(upstream.requests()).isZero();

    upstream.tls(AUTHORITY.context(AUTHORITY.server()));
    assertThat(post("k").status()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void withoutAuthoritiesOfItsOwnThoseOfTheJvmCount() {
    edge = TlsEdge.of(stack, upstream).upstream(new TlsOptions(null, null, null, null)).start();
    assertThat(post("k").status()).isEqualTo(502);
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void aClearUpstreamIsNotSpokenToInTheClear() {
    ScriptedUpstream clear = ScriptedUpstream.ok();
    edge =
        TlsEdge.of(stack, clear)
            .upstream(new TlsOptions(authorities(), null, null, null))
            .connectTimeout(Duration.ofMillis(500))
            .start();
    assertThat(post("k").status()).isEqualTo(502);
    // What it takes for a line is a piece of the hello.
    assertThat(clear.received()).noneMatch(request -> request.line().contains("HTTP/1.1"));
    clear.close();
  }

  @Test
  void anUpstreamThatNeverShakesHandsIsGivenUpInTime() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      edge =
          TlsEdge.of(stack, upstream)
              .upstream(new TlsOptions(authorities(), null, null, null))
              .port(silent.getLocalPort())
              .connectTimeout(Duration.ofMillis(300))
              .start();
      assertThat(post("k").problem()).isEqualTo("upstream-unreachable");
      await().until(() -> edge.upstreamConnections() == 0);
    }
  }

  @Test
  void theGatewaysOwnCertificateIsShownWhereOneIsDemanded() {
    upstream.demandingCertificates();
    X509Bundle own = AUTHORITY.client("CN=gateway");
    Path certificate = Certificates.write(files.resolve("own.pem"), own.getCertificatePathPEM());
    Path key = Certificates.write(files.resolve("own.key"), own.getPrivateKeyPEM());
    edge =
        TlsEdge.of(stack, upstream)
            .upstream(new TlsOptions(authorities(), certificate, key, null))
            .start();
    assertThat(post("k").status()).isEqualTo(200);
  }

  // ---- the ends of a connection

  @Test
  void aCloseDelimitedAnswerThatIsCutOffIsNoAnswer() {
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 X\r\n\r\nhalf");
          wire.cut();
        });
    edge = wishes().start();
    RawResponse first = post("k");
    assertThat(first.status()).isEqualTo(502);
    assertThat(first.problem()).isEqualTo("outcome-unknown");
    assertThat(post("k").problem()).isEqualTo("outcome-unknown");
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void aCloseDelimitedAnswerThatIsCutOffIsNoneForAnUnkeyedClientEither() {
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 X\r\n\r\nhalf");
          wire.cut();
        });
    edge = wishes().start();
    RawResponse response =
        RawClient.once(edge.port(), RawClient.request("GET", "/a", null, null, null));
    assertThat(response.complete()).isFalse();
  }

  @Test
  void aCloseDelimitedAnswerThatEndsWithACloseNotifyIsWhole() {
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 X\r\n\r\nwhole");
          wire.close();
        });
    edge = wishes().start();
    assertThat(post("k").text()).isEqualTo("whole");
    assertThat(post("k").isReplay()).isTrue();
  }

  @Test
  void anAnswerWithALengthIsWholeHoweverTheConnectionEnds() {
    upstream.script(
        (request, wire) -> {
          wire.respond(200, "whole");
          wire.cut();
        });
    edge = wishes().start();
    assertThat(post("k").text()).isEqualTo("whole");
    assertThat(post("k").isReplay()).isTrue();
  }

  @Test
  void surplusBytesNeverReachAnotherExchange() {
    upstream.script(
        (request, wire) ->
            wire.send(
                "HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok"
                    + "HTTP/1.1 200 X\r\nContent-Length: 6\r\n\r\npoison"));
    edge = wishes().upstreamConnections(1).start();
    askConcurrently("poison");
  }

  @Test
  void surplusBytesInARecordOfTheirOwnNeverReachAnotherExchange() {
    upstream.script(
        (request, wire) -> {
          // Two records in one segment.
          wire.sendTogether(
              "HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok",
              "HTTP/1.1 200 X\r\nContent-Length: 6\r\n\r\npoison");
        });
    edge = wishes().upstreamConnections(1).start();
    askConcurrently("poison");
  }

  /** Others wait for the one connection while a response comes in. */
  private void askConcurrently(String never) {
    try (RawClient first = RawClient.connect(edge.port());
        RawClient second = RawClient.connect(edge.port())) {
      for (int i = 0; i < 20; i++) {
        byte[] request = RawClient.request("GET", "/a" + i, null, null, null);
        first.send(request);
        second.send(request);
        assertThat(first.read().text()).isEqualTo("ok").isNotEqualTo(never);
        assertThat(second.read().text()).isEqualTo("ok").isNotEqualTo(never);
      }
    }
  }

  @Test
  void anIdleConnectionThatTheUpstreamEndedIsNotUsedAgain() {
    edge = wishes().start();
    for (int i = 0; i < 10; i++) {
      upstream.script((request, wire) -> wire.respond(200, "ok").close());
      assertThat(post("k-" + i).status()).isEqualTo(200);
      // Before its end is seen it may be used, and what was sent then is not sent again.
      await().until(() -> edge.upstreamConnections() == 0);
    }
    assertThat(upstream.requests()).isEqualTo(10);
  }

  @Test
  void anAnswerBeforeTheWholeRequestIsOutArrives() {
    upstream.withoutReadingBodies();
    upstream.script(
        (request, wire) -> {
          wire.respond(413, "too much", "Connection: close");
          wire.reset();
        });
    edge = wishes().start();
    byte[] request = RawClient.request("PUT", "/a", null, "text/plain", new byte[4 << 20]);
    RawResponse response = RawClient.onceIgnoringWriteFailure(edge.port(), request);
    assertThat(response.status()).isIn(413, 502);
  }
}
