package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.server.TlsOptions;
import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients over TLS. */
@ParameterizedClass
@MethodSource("dev.idempotency.gateway.TlsEdge$Stack#all")
class TlsClientsTest {

  /** Some ends of a handshake leave the client of the JDK waiting for ever. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final Duration RELOAD = Duration.ofMillis(20);
  private static final byte[] NOTHING = {};

  private final TlsEdge.Stack stack;
  private final Certificates authority = Certificates.authority("Test CA");
  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private final Path files;
  private TlsEdge edge;

  TlsClientsTest(TlsEdge.Stack stack, @TempDir Path files) {
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

  private TlsEdge.Wishes wishes(Certificates clients, boolean demanded) {
    install(authority.server());
    Path clientAuthorities =
        clients == null
            ? null
            : Certificates.write(
                files.resolve("clients.pem"), clients.bundle().getCertificatePEM());
    return TlsEdge.of(stack, upstream)
        .clients(
            new TlsOptions(
                files.resolve("server.pem"),
                files.resolve("server.key"),
                clientAuthorities,
                demanded,
                List.of("TLSv1.3", "TLSv1.2"),
                RELOAD));
  }

  private void install(X509Bundle certificate) {
    Certificates.write(files.resolve("server.key"), certificate.getPrivateKeyPEM());
    Certificates.write(files.resolve("server.pem"), certificate.getCertificatePathPEM());
  }

  private void start() {
    edge = wishes(null, false).start();
  }

  private SSLSocket socket(SSLContext context, String... protocols) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), edge.port());
    if (protocols.length > 0) {
      socket.setEnabledProtocols(protocols);
    }
    return socket;
  }

  private RawClient connect(X509Bundle shown, String... protocols) throws IOException {
    return RawClient.over(socket(authority.context(shown), protocols));
  }

  private String subjectAnswer(X509Bundle shown, String key) throws IOException {
    try (RawClient client = connect(shown)) {
      RawResponse response = client.send(RawClient.post("/keyed/a", key, "{}")).read();
      return response.status()
          + (response.header("Idempotent-Replayed") == null ? " new" : " replayed");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void aKeyedRequestIsForwardedOnceAndReplayed(String version) throws Exception {
    start();
    try (RawClient client = connect(null, version)) {
      assertThat(client.send(RawClient.post("/keyed/a", "k-1", "{}")).read().status())
          .isEqualTo(200);
      RawResponse second = client.send(RawClient.post("/keyed/a", "k-1", "{}")).read();
      assertThat(second.header("Idempotent-Replayed")).isEqualTo("true");
    }
    assertThat(upstream.requests()).isEqualTo(1);
    assertThat(upstream.last().header("X-Forwarded-Proto")).isEqualTo("https");
  }

  @Test
  void anHttpClientThatOffersBothVersionsGetsHttp11() throws Exception {
    start();
    HttpClient client = HttpClient.newBuilder().sslContext(authority.context(null)).build();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + edge.port() + "/keyed/a"))
            .timeout(PATIENCE)
            .header("Idempotency-Key", "k-1")
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
    assertThat(response.sslSession()).isPresent();
  }

  @Test
  void aClientWithoutAProtocolInCommonIsRefusedWithTheAlertForThat() throws Exception {
    start();
    try (SSLSocket socket = socket(authority.context(null))) {
      var parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"imap", "h2"});
      socket.setSSLParameters(parameters);
      assertThatThrownBy(socket::startHandshake)
          .isInstanceOf(SSLException.class)
          .hasMessageContaining("no_application_protocol");
    }
    await().until(() -> edge.server().handshakeFailures() == 1);
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void anOldVersionIsRefused() throws Exception {
    start();
    String before = java.security.Security.getProperty("jdk.tls.disabledAlgorithms");
    java.security.Security.setProperty("jdk.tls.disabledAlgorithms", "");
    try (SSLSocket socket = socket(authority.context(null), "TLSv1.1")) {
      assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class);
    } finally {
      java.security.Security.setProperty("jdk.tls.disabledAlgorithms", before);
    }
    await().until(() -> edge.server().handshakeFailures() == 1);
  }

  @Test
  void aRenegotiationEndsTheConnection() throws Exception {
    start();
    try (SSLSocket socket = socket(authority.context(null), "TLSv1.2")) {
      RawClient client = RawClient.over(socket);
      assertThat(client.send(RawClient.post("/keyed/a", "k-1", "{}")).read().status())
          .isEqualTo(200);
      assertThatThrownBy(
              () -> {
                socket.startHandshake();
                client.send(RawClient.post("/keyed/a", "k-1", "{}")).read();
              })
          .isInstanceOfAny(IOException.class, UncheckedIOException.class);
    }
  }

  @Test
  void plainHttpOnATlsPortIsClosedAndCounted() {
    start();
    try (RawClient client = RawClient.connect(edge.port())) {
      client.send(RawClient.post("/keyed/a", "k-1", "{}"));
      assertThat(client.readToEnd()).doesNotContain("HTTP/1.1");
    }
    await().until(() -> edge.server().handshakeFailures() == 1);
    await().until(() -> edge.server().connections() == 0);
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void garbageIsClosedAndCounted() {
    start();
    try (RawClient client = RawClient.connect(edge.port())) {
      client.send(new byte[] {22, 3, 1, 0, 5, 1, 0, 0, 1, 0, 22, 3, 1, 0, 5, 9, 9, 9, 9, 9});
      client.readToEnd();
    }
    await().until(() -> edge.server().handshakeFailures() == 1);
    await().until(() -> edge.server().connections() == 0);
  }

  @Test
  void aSlowHandshakeIsClosedAtTheDeadline() {
    edge = wishes(null, false).headTimeout(Duration.ofMillis(300)).start();
    try (RawClient client = RawClient.connect(edge.port());
        RawClient silent = RawClient.connect(edge.port())) {
      client.send(new byte[] {22, 3, 1, 2, 0, 1, 0});
      assertThat(client.isClosedByPeer()).isTrue();
      assertThat(silent.isClosedByPeer()).isTrue();
    }
    await().until(() -> edge.server().handshakeFailures() == 2);
    await().until(() -> edge.server().connections() == 0);
  }

  @Test
  void aHelloInSingleBytesIsUnderstood() throws Exception {
    start();
    try (SingleBytes relay = new SingleBytes(edge.port())) {
      SSLSocket socket =
          (SSLSocket)
              authority
                  .context(null)
                  .getSocketFactory()
                  .createSocket(InetAddress.getLoopbackAddress(), relay.port());
      try (RawClient client = RawClient.over(socket)) {
        assertThat(client.send(RawClient.post("/keyed/a", "k-1", "{}")).read().status())
            .isEqualTo(200);
      }
    }
  }

  // ---- the ends of a connection

  @Test
  void aRequestThatIsCutOffIsNotForwarded() throws Exception {
    start();
    Socket raw = new Socket(InetAddress.getLoopbackAddress(), edge.port());
    SSLSocket socket =
        (SSLSocket)
            authority.context(null).getSocketFactory().createSocket(raw, "127.0.0.1", 1, false);
    RawClient.over(socket)
        .send(
            "POST /keyed/a HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 9\r\n\r\n{");
    raw.shutdownOutput();
    assertThat(raw.getInputStream().readAllBytes()).isNotNull();
    await().until(() -> edge.server().connections() == 0);
    assertThat(upstream.requests()).isZero();
    raw.close();
  }

  @Test
  void aTcpHalfCloseAfterAWholeRequestGetsTheAnswer() throws Exception {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(gate::passAndAnswer);
    start();
    Socket raw = new Socket(InetAddress.getLoopbackAddress(), edge.port());
    SSLSocket socket =
        (SSLSocket)
            authority.context(null).getSocketFactory().createSocket(raw, "127.0.0.1", 1, false);
    RawClient client = RawClient.over(socket).send(RawClient.post("/keyed/a", "k-1", "{}"));
    await().until(() -> upstream.requests() == 1);
    raw.shutdownOutput();
    gate.open();
    assertThat(client.read().text()).isEqualTo("ok");
    raw.close();
  }

  @Test
  void aCloseNotifyAfterAWholeRequestLosesNothingOfTheOperation() throws Exception {
    ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();
    upstream.script(gate::passAndAnswer);
    start();
    try (SSLSocket socket = socket(authority.context(null), "TLSv1.3")) {
      RawClient client = RawClient.over(socket).send(RawClient.post("/keyed/a", "k-1", "{}"));
      await().until(() -> upstream.requests() == 1);
      socket.shutdownOutput();
      gate.open();
      if (stack.provider().equals("jdk")) {
        assertThat(client.read().text()).isEqualTo("ok");
      } else {
        client.readToEnd();
      }
    }
    await().untilAsserted(() -> assertThat(subjectAnswer(null, "k-1")).isEqualTo("200 replayed"));
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void anAnswerThatEndsTheConnectionEndsWithACloseNotify() throws Exception {
    start();
    try (RawClient client = connect(null)) {
      // A truncation would be an exception here.
      String all =
          client
              .send("POST /keyed/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{")
              .readToEnd();
      assertThat(all).startsWith("HTTP/1.1 400 ").contains("key-missing");
    }
  }

  @Test
  void aCloseDelimitedAnswerThatBreaksOffIsNoProperEnd() throws Exception {
    ScriptedUpstream.Gate seen = new ScriptedUpstream.Gate();
    upstream.script(
        (request, wire) -> {
          wire.send("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
          seen.pass();
          wire.reset();
        });
    start();
    try (RawClient client = connect(null)) {
      client.send("GET /plain HTTP/1.0\r\n\r\n").readUntil("abc");
      seen.open();
      // A close_notify would be the end of the answer.
      assertThatThrownBy(client::peek).isInstanceOf(UncheckedIOException.class);
    }
  }

  @Test
  void anHttp2ConnectionThatTheServerEndsEndsWithACloseNotify() throws Exception {
    edge = wishes(null, false).http2().start();
    try (SSLSocket socket = socket(authority.context(null))) {
      var parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      socket.getOutputStream().write(Http2RawClient.PREFACE.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().write(Http2RawClient.frame(Http2RawClient.SETTINGS, 0, 0, NOTHING));
      assertThat(socket.getInputStream().read()).as("the server's settings").isNotNegative();
      edge.server().drain();
      // A truncation would be an exception here.
      assertThat(socket.getInputStream().readAllBytes()).isNotEmpty();
    }
  }

  @Test
  void aCloseNotifyEndsAWebSocketAlthoughTheConnectionStaysOpen() throws Exception {
    CompletableFuture<byte[]> heard = new CompletableFuture<>();
    upstream.script(
        (request, wire) -> {
          wire.send(
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
          heard.complete(wire.in().readAllBytes());
          wire.close();
        });
    edge = wishes(null, false).websocket().start();
    try (Socket raw = new Socket(InetAddress.getLoopbackAddress(), edge.port())) {
      SSLSocket socket =
          (SSLSocket)
              authority.context(null).getSocketFactory().createSocket(raw, "127.0.0.1", 1, false);
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      RawClient client = RawClient.over(socket);
      client.send(
          "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(101);
      client.send("last words");
      client.close();
      assertThat(raw.isClosed()).isFalse();
      assertThat(heard.orTimeout(15, TimeUnit.SECONDS).join()).asString().isEqualTo("last words");
    }
  }

  // ---- clients' certificates

  @Test
  void twoSubjectsHaveTwoOperationsUnderOneKeyAndARenewalHasTheSame() throws Exception {
    edge = wishes(authority, true).scope(new ScopePart.CertificateSubject()).start();
    X509Bundle alice = authority.client("CN=alice,O=Test");
    assertThat(subjectAnswer(alice, "k")).isEqualTo("200 new");
    assertThat(subjectAnswer(authority.client("CN=bob,O=Test"), "k")).isEqualTo("200 new");
    assertThat(subjectAnswer(alice, "k")).isEqualTo("200 replayed");
    assertThat(subjectAnswer(authority.client("CN=alice,O=Test"), "k")).isEqualTo("200 replayed");
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void aResumedSessionStillHasItsSubject(String version) throws Exception {
    edge = wishes(authority, true).scope(new ScopePart.CertificateSubject()).start();
    SSLContext same = authority.context(authority.client("CN=alice"));
    for (int i = 0; i < 3; i++) {
      try (RawClient client = RawClient.over(socket(same, version))) {
        assertThat(client.send(RawClient.post("/keyed/a", "k", "{}")).read().status())
            .isEqualTo(200);
      }
    }
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void aClientWithoutACertificateIsRefusedWhereOneIsDemanded() throws Exception {
    edge = wishes(authority, true).start();
    assertThatThrownBy(() -> subjectAnswer(null, "k"))
        .isInstanceOfAny(IOException.class, UncheckedIOException.class);
    await().until(() -> edge.server().handshakeFailures() == 1);
    assertThat(upstream.requests()).isZero();
  }

  @Test
  void aClientWithoutACertificateHasNoSubjectWhereNoneIsDemanded() throws Exception {
    edge = wishes(authority, false).scope(new ScopePart.CertificateSubject()).start();
    assertThat(subjectAnswer(null, "k")).isEqualTo("401 new");
    assertThat(subjectAnswer(authority.client("CN=alice"), "k")).isEqualTo("200 new");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCertificateOfAnotherAuthorityIsRefused(boolean demanded) throws Exception {
    edge = wishes(authority, demanded).start();
    X509Bundle stranger = Certificates.authority("Another CA").client("CN=alice");
    assertThatThrownBy(() -> subjectAnswer(stranger, "k"))
        .isInstanceOfAny(IOException.class, UncheckedIOException.class);
    assertThat(upstream.requests()).isZero();
  }

  // ---- reloading

  private String shownSubject() {
    try (SSLSocket socket = socket(authority.context(null))) {
      socket.startHandshake();
      return socket.getSession().getPeerPrincipal().getName();
    } catch (SSLHandshakeException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aNewCertificateServesNewConnectionsAndOldOnesGoOn() throws Exception {
    start();
    try (RawClient old = connect(null)) {
      assertThat(old.send(RawClient.post("/keyed/a", "k-1", "{}")).read().status()).isEqualTo(200);
      install(authority.issue(it -> it.subject("CN=renewed").addSanIpAddress("127.0.0.1")));
      await().until(() -> shownSubject().equals("CN=renewed"));
      assertThat(old.send(RawClient.post("/keyed/a", "k-2", "{}")).read().status()).isEqualTo(200);
    }
    assertThat(edge.server().handshakeFailures()).isZero();
  }

  @Test
  void filesThatAreOfNoUseChangeNothing() {
    start();
    Certificates.write(files.resolve("server.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n");
    await().until(() -> edge.server().reloadFailures() >= 1);
    assertThat(shownSubject()).isEqualTo("CN=gw.test");
    // A key that belongs to another certificate.
    Certificates.write(files.resolve("server.pem"), authority.server().getCertificatePathPEM());
    await().until(() -> edge.server().reloadFailures() >= 2);
    assertThat(shownSubject()).isEqualTo("CN=gw.test");
    assertThat(edge.server().certificateExpires()).isNotNull();
  }

  /** Passes what a client sends on byte by byte. */
  private static final class SingleBytes implements AutoCloseable {
    private final java.net.ServerSocket listener;

    SingleBytes(int to) throws IOException {
      listener = new java.net.ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      daemon(
          () -> {
            Socket client = listener.accept();
            Socket gateway = new Socket(InetAddress.getLoopbackAddress(), to);
            gateway.setTcpNoDelay(true);
            daemon(() -> gateway.getInputStream().transferTo(client.getOutputStream()));
            for (int next = client.getInputStream().read();
                next >= 0;
                next = client.getInputStream().read()) {
              gateway.getOutputStream().write(next);
            }
            gateway.close();
            return 0L;
          });
    }

    int port() {
      return listener.getLocalPort();
    }

    private static void daemon(java.util.concurrent.Callable<Long> task) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  task.call();
                } catch (Exception e) {
                  // A side has closed.
                }
              });
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void close() throws IOException {
      listener.close();
    }
  }
}
