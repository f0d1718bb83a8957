package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The edge as a file describes it: a clear listener and one with TLS that knows its clients. */
class EdgeTlsYamlTest {

  /** Some ends of a handshake leave the client of the JDK waiting for ever. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final byte[] METRICS = RawClient.request("GET", "/metrics", null, null, null);

  private final Certificates authority = Certificates.authority("Servers");
  private final Certificates clients = Certificates.authority("Clients");
  private final AtomicInteger made = new AtomicInteger();
  private final ScriptedUpstream upstream =
      ScriptedUpstream.start((request, wire) -> wire.respond(201, "n" + made.incrementAndGet()));
  private final Path files;
  private TestGateway gateway;

  EdgeTlsYamlTest(@TempDir Path files) {
    this.files = files;
  }

  @AfterEach
  void stop() {
    if (gateway != null) {
      assertThat(metrics()).contains("gateway_bugs_total 0.0");
      gateway.close();
    }
    upstream.close();
  }

  private void install(X509Bundle certificate) {
    Certificates.write(files.resolve("gw.key"), certificate.getPrivateKeyPEM());
    Certificates.write(files.resolve("gw.crt"), certificate.getCertificatePathPEM());
  }

  private void start(String demand) {
    install(authority.server());
    Certificates.write(files.resolve("clients.crt"), clients.bundle().getCertificatePEM());
    gateway = TestGateway.start(yaml(demand));
  }

  private String yaml(String demand) {
    return String.join(
        "\n",
        "store: memory",
        "drain: 1s",
        "threads: 2",
        "listen:",
        "  - 127.0.0.1:0",
        "  - address: 127.0.0.1:0",
        "    tls:",
        "      certificate: \"" + files.resolve("gw.crt") + '"',
        "      key: \"" + files.resolve("gw.key") + '"',
        "      client-ca: \"" + files.resolve("clients.crt") + '"',
        "      client-certificate: " + demand,
        "      reload: 100ms",
        "hosts: [127.0.0.1, gw.test]",
        "upstreams:",
        "  app: { url: \"" + upstream.url() + "\" }",
        "routes:",
        "  - name: orders",
        "    path: /orders/**",
        "    upstream: app",
        "    idempotency: required",
        "    scope: [\"certificate:subject\"]",
        "  - { name: rest, path: /**, upstream: app, idempotency: off }",
        "");
  }

  private String metrics() {
    return RawClient.once(gateway.adminPort(), METRICS).text();
  }

  private double metric(String name) {
    return metrics()
        .lines()
        .filter(line -> line.startsWith(name + ' '))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElseThrow();
  }

  private int tlsPort() {
    return gateway.ports().get(1);
  }

  /** Trusts the gateway's authority and shows what its own has signed. */
  private HttpClient client(X509Bundle shown, HttpClient.Version version) {
    return HttpClient.newBuilder().version(version).sslContext(authority.context(shown)).build();
  }

  private HttpResponse<String> order(HttpClient client, String key) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + tlsPort() + "/orders"))
            .timeout(PATIENCE)
            .header("Idempotency-Key", key)
            .POST(BodyPublishers.ofString("{}"))
            .build();
    return client.send(request, BodyHandlers.ofString());
  }

  private static boolean isReplay(HttpResponse<String> response) {
    return response.headers().firstValue("Idempotent-Replayed").isPresent();
  }

  private RawClient connect(X509Bundle shown) throws IOException {
    return RawClient.over(
        authority
            .context(shown)
            .getSocketFactory()
            .createSocket(InetAddress.getLoopbackAddress(), tlsPort()));
  }

  @ParameterizedTest
  @EnumSource(HttpClient.Version.class)
  void clientThatSpeaksThatVersionIsServedOnceAndReplayed(HttpClient.Version version)
      throws Exception {
    start("required");
    HttpClient client = client(clients.client("CN=alice"), version);
    HttpResponse<String> first = order(client, "k");
    HttpResponse<String> second = order(client, "k");
    assertThat(first.version()).isEqualTo(version);
    assertThat(first.statusCode()).isEqualTo(201);
    assertThat(isReplay(first)).isFalse();
    assertThat(second.body()).isEqualTo(first.body());
    assertThat(isReplay(second)).isTrue();
    assertThat(upstream.requests()).isEqualTo(1);
    assertThat(upstream.last().header("X-Forwarded-Proto")).isEqualTo("https");
  }

  @Test
  void keyBelongsToTheSubjectWhateverTheVersionAndTheCertificate() throws Exception {
    start("required");
    HttpResponse<String> alice =
        order(client(clients.client("CN=alice"), HttpClient.Version.HTTP_1_1), "k");
    HttpResponse<String> bob =
        order(client(clients.client("CN=bob"), HttpClient.Version.HTTP_2), "k");
    // A new certificate for the same subject, over the other protocol.
    HttpResponse<String> aliceAgain =
        order(client(clients.client("CN=alice"), HttpClient.Version.HTTP_2), "k");

    assertThat(bob.body()).isNotEqualTo(alice.body());
    assertThat(isReplay(bob)).isFalse();
    assertThat(aliceAgain.body()).isEqualTo(alice.body());
    assertThat(isReplay(aliceAgain)).isTrue();
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void clientOfNobodyThatTheFileNamesDoesNotGetIn() throws Exception {
    start("required");
    X509Bundle stranger = Certificates.authority("Strangers").client("CN=alice");
    for (X509Bundle shown : new X509Bundle[] {stranger, null}) {
      assertThatThrownBy(() -> order(client(shown, HttpClient.Version.HTTP_2), "k"))
          .isInstanceOf(IOException.class);
    }
    await().until(() -> metrics().contains("gateway_tls_handshake_failures_total 2.0"));
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void whoShowsNoCertificateHasNoIdentity() throws Exception {
    start("optional");
    HttpResponse<String> nobody = order(client(null, HttpClient.Version.HTTP_2), "k");
    assertThat(nobody.statusCode()).isEqualTo(401);
    assertThat(nobody.body()).contains("#identity-missing");
    RawResponse clear = RawClient.once(gateway.port(), RawClient.post("/orders", "k", "{}"));
    assertThat(clear.status()).isEqualTo(401);
    assertThat(upstream.requests()).isZero();
    assertThat(RawClient.once(gateway.port(), RawClient.post("/rest", null, "{}")).status())
        .isEqualTo(201);
  }

  @Test
  void renewedCertificateIsShownToNewConnectionsAndMeasured() throws Exception {
    start("required");
    X509Bundle alice = clients.client("CN=alice");
    try (RawClient before = connect(alice)) {
      assertThat(before.send(RawClient.post("/orders", "a", "{}")).read().status()).isEqualTo(201);
      Instant until = Instant.now().plus(3, ChronoUnit.DAYS).truncatedTo(ChronoUnit.SECONDS);
      X509Bundle renewed =
          authority.issue(
              it -> it.subject("CN=renewed").addSanIpAddress("127.0.0.1").notAfter(until));
      install(renewed);
      await().until(() -> shown(alice).equals("CN=renewed"));
      assertThat((long) metric("gateway_certificate_expiry_seconds"))
          .isEqualTo(until.getEpochSecond());
      assertThat(before.send(RawClient.post("/orders", "a", "{}")).read().isReplay()).isTrue();

      // A key whose certificate is still to come counts as a failure too.
      double failures = metric("gateway_tls_reload_failures_total");
      Certificates.write(files.resolve("gw.crt"), "nothing of use");
      await().until(() -> metric("gateway_tls_reload_failures_total") > failures);
      assertThat(shown(alice)).isEqualTo("CN=renewed");
    }
  }

  /** Whom the gateway's certificate names at the moment. */
  private String shown(X509Bundle client) throws IOException {
    try (SSLSocket socket =
        (SSLSocket)
            authority
                .context(client)
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), tlsPort())) {
      socket.startHandshake();
      X509Certificate certificate = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      return certificate.getSubjectX500Principal().getName();
    }
  }

  @Test
  void hostThatTheFileDoesNotNameIsMisdirectedOnEveryListener() throws Exception {
    start("optional");
    String get = "GET /a HTTP/1.1\r\nHost: %s\r\n\r\n";
    for (String other : new String[] {"evil.test", "gw.test.evil.test", "[::1]", "localhost"}) {
      byte[] request = get.formatted(other).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
      assertThat(RawClient.once(gateway.port(), request).status()).as(other).isEqualTo(421);
      try (RawClient secure = connect(null)) {
        assertThat(secure.send(request).read().status()).as(other).isEqualTo(421);
      }
    }
    HttpRequest localhost =
        HttpRequest.newBuilder(URI.create("https://localhost:" + tlsPort() + "/a"))
            .timeout(PATIENCE)
            .build();
    HttpResponse<String> misdirected =
        client(null, HttpClient.Version.HTTP_2).send(localhost, BodyHandlers.ofString());
    assertThat(misdirected.statusCode()).isEqualTo(421);
    assertThat(misdirected.body()).contains("#misdirected-request");
    assertThat(upstream.requests()).isZero();

    byte[] upper = get.formatted("GW.TEST:8443").getBytes(java.nio.charset.StandardCharsets.UTF_8);
    assertThat(RawClient.once(gateway.port(), upper).status()).isEqualTo(201);
  }
}
