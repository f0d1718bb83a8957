package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Upstreams over TLS, as a file describes them. */
class UpstreamTlsYamlTest {

  private static final Certificates AUTHORITY = Certificates.authority("Upstreams");

  private final ScriptedUpstream upstream =
      ScriptedUpstream.ok().tls(AUTHORITY.context(AUTHORITY.server()));
  private final Path authorities;
  private final Path files;
  private TestGateway gateway;

  UpstreamTlsYamlTest(@TempDir Path files) {
    this.files = files;
    this.authorities =
        Certificates.write(files.resolve("ca.pem"), AUTHORITY.bundle().getCertificatePEM());
  }

  @AfterEach
  void stop() {
    if (gateway != null) {
      gateway.close();
    }
    upstream.close();
  }

  private void start(String tls, String... options) {
    gateway =
        EdgeYaml.of(upstream.url()).upstream("tls: { " + tls + " }").upstream(options).start();
  }

  private String trusted() {
    return "ca: \"" + authorities + "\"";
  }

  private RawResponse post(String key) {
    return RawClient.once(gateway.port(), RawClient.post("/keyed/a", key, "{}"));
  }

  @Test
  void ownAuthoritiesAreTrustedAndOneConnectionServesMany() {
    start(trusted());
    for (String key : List.of("a", "b", "c")) {
      assertThat(post(key).text()).isEqualTo("ok");
      assertThat(post(key).isReplay()).isTrue();
    }
    assertThat(upstream.requests()).isEqualTo(3);
    assertThat(upstream.connections()).isEqualTo(1);
  }

  @Test
  void authorityThatIsNotTrustedGetsNothingAndTheSameKeyServesLater() {
    upstream.tls(AUTHORITY.context(Certificates.authority("Others").server()));
    start(trusted());
    RawResponse refused = post("k");
    assertThat(refused.status()).isEqualTo(502);
    assertThat(refused.problem()).isEqualTo("upstream-unreachable");
    assertThat(refused.header("Retry-After")).isNotNull();
    assertThat(upstream.requests()).isZero();

    upstream.tls(AUTHORITY.context(AUTHORITY.server()));
    RawResponse retried = post("k");
    assertThat(retried.text()).isEqualTo("ok");
    assertThat(retried.isReplay()).isFalse();
    assertThat(upstream.last().header("Idempotency-Attempt")).isEqualTo("1");
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void jvmsAuthoritiesDoNotTrustOwnOnes() {
    gateway = EdgeYaml.of(upstream.url()).start();
    assertThat(post("k").problem()).isEqualTo("upstream-unreachable");
    assertThat(upstream.requests()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"orders.internal", "orders"})
  void setNameIsAskedForAndVerifiedAndTheHostStaysTheClients(String name) {
    List<SNIServerName> asked = new CopyOnWriteArrayList<>();
    upstream.script(
        (request, wire) -> {
          SSLSocket socket = (SSLSocket) wire.socket();
          asked.addAll(((ExtendedSSLSession) socket.getSession()).getRequestedServerNames());
          wire.respond(200, "ok");
        });
    upstream.tls(AUTHORITY.context(named(name)));
    start(trusted() + ", server-name: " + name);
    assertThat(post("k").status()).isEqualTo(200);
    assertThat(asked).hasSize(1);
    assertThat(new String(asked.get(0).getEncoded(), java.nio.charset.StandardCharsets.US_ASCII))
        .isEqualTo(name);
    assertThat(upstream.last().header("Host")).isEqualTo("gw.test");
  }

  @Test
  void anotherNameThanTheSetOneGetsNothing() {
    upstream.tls(AUTHORITY.context(named("payments.internal")));
    start(trusted() + ", server-name: orders.internal");
    assertThat(post("k").problem()).isEqualTo("upstream-unreachable");
    assertThat(upstream.requests()).isZero();
  }

  private static X509Bundle named(String name) {
    return AUTHORITY.issue(it -> it.subject("CN=x").addSanDnsName(name));
  }

  @Test
  void ownCertificateIsShownToWhoDemandsOne() {
    upstream.demandingCertificates();
    X509Bundle own = AUTHORITY.client("CN=gateway");
    Path certificate = Certificates.write(files.resolve("own.crt"), own.getCertificatePathPEM());
    Path key = Certificates.write(files.resolve("own.key"), own.getPrivateKeyPEM());
    start(trusted() + ", certificate: \"" + certificate + "\", key: \"" + key + "\"");
    assertThat(post("k").status()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void whoDemandsACertificateAndGetsNoneHasExecutedNothingTwice() {
    upstream.demandingCertificates();
    start(trusted());
    RawResponse first = post("k");
    assertThat(first.status()).isEqualTo(502);
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void upstreamThatChoosesNoHttp2IsSpokenToInHttp1() {
    start(trusted(), "http2: true");
    assertThat(post("k").text()).isEqualTo("ok");
    assertThat(upstream.last().line()).isEqualTo("POST /keyed/a HTTP/1.1");
  }
}
