package dev.idempotency.gateway.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.idempotency.gateway.exchange.Result;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdminServerTest {

  private static final Readiness.State READY =
      new Readiness.State(true, true, "memory, \"3\" records", false);

  private volatile Readiness readiness = () -> READY;
  private final GatewayMetrics metrics = new GatewayMetrics("1.2.3");
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private EventLoopGroup group;
  private AdminServer server;
  private int port;

  @BeforeEach
  void start() throws InterruptedException {
    start(Transport.best());
  }

  private void start(Transport transport) throws InterruptedException {
    group = transport.group(1, "admin-test");
    server =
        new AdminServer(
            transport, group, metrics, () -> readiness.now(), OperationsApi.off(metrics));
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    port = ((InetSocketAddress) server.bind(any).sync().channel().localAddress()).getPort();
  }

  @AfterEach
  void stop() throws InterruptedException {
    server.close();
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
  }

  private HttpResponse<String> send(String method, String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static JsonNode json(HttpResponse<String> response) throws IOException {
    assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
    return new ObjectMapper().readTree(response.body());
  }

  /** All bytes that come back for those bytes until the server closes. */
  private String raw(String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(30_000);
      OutputStream out = socket.getOutputStream();
      out.write(request.getBytes(StandardCharsets.ISO_8859_1));
      out.flush();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void livingProcessIsHealthy(Transport transport) throws Exception {
    if (transport == Transport.NIO) {
      stop();
      start(transport);
    }
    HttpResponse<String> response = send("GET", "/healthz");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(json(response).get("status").textValue()).isEqualTo("alive");
  }

  @Test
  void readyGatewaySaysSoWithItsChecks() throws Exception {
    HttpResponse<String> response = send("GET", "/readyz?verbose");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body())
        .isEqualTo(
            "{\"status\":\"ready\",\"checks\":{\"store\":\"up\","
                + "\"store_detail\":\"memory, \\\"3\\\" records\",\"store_findings\":[],"
                + "\"draining\":false}}\n");
  }

  @Test
  void unreadyGatewayAnswers503() throws Exception {
    Readiness.State away = new Readiness.State(false, false, "no connection", true);
    readiness = () -> away;

    HttpResponse<String> response = send("GET", "/readyz");

    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(json(response).get("status").textValue()).isEqualTo("not-ready");
    assertThat(json(response).at("/checks/store").textValue()).isEqualTo("down");
    assertThat(json(response).at("/checks/store_detail").textValue()).isEqualTo("no connection");
    assertThat(json(response).at("/checks/draining").booleanValue()).isTrue();
  }

  @Test
  void scrapeHasWhatWasCounted() throws Exception {
    metrics.route("create-order");
    Scripted.exchange(metrics, "create-order", Result.COMPLETED, 201);

    HttpResponse<String> response = send("GET", "/metrics");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type"))
        .hasValue("text/plain; version=0.0.4; charset=utf-8");
    assertThat(response.body())
        .contains("gateway_request_duration_seconds_count{route=\"create-order\"} 1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/openmetrics-text;version=1.0.0,text/plain;q=0.5 | true",
        "text/plain, Application/OpenMetrics-Text ; q=0.3 | true",
        "application/openmetrics-text;q=0.0, text/plain | false",
        "text/plain;version=0.0.4 | false",
        "*/* | false"
      })
  void scrapeIsInTheFormatThatIsAskedFor(String accept, boolean open) throws Exception {
    HttpResponse<String> response = send("GET", "/metrics", "Accept", accept);

    assertThat(response.body().endsWith("# EOF\n")).isEqualTo(open);
    assertThat(response.headers().firstValue("Content-Type").orElse(""))
        .startsWith(open ? "application/openmetrics-text" : "text/plain");
  }

  @Test
  void rootListsTheEndpoints() throws Exception {
    assertThat(json(send("GET", "/")).findValuesAsText("path"))
        .containsExactly("/", "/healthz", "/readyz", "/metrics");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/healthz", "/readyz", "/metrics"})
  void headIsTheSameWithoutBody(String path) throws Exception {
    HttpResponse<String> response = send("HEAD", path);

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEmpty();
    assertThat(response.headers().firstValueAsLong("Content-Length").orElse(0)).isPositive();
  }

  @Test
  void unknownPathIsNotFound() throws Exception {
    HttpResponse<String> response = send("GET", "/metrics/");

    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(json(response).get("error").textValue()).isEqualTo("not-found");
  }

  @Test
  void wrongMethodIsToldTheRightOnes() throws Exception {
    HttpResponse<String> response = send("POST", "/readyz");

    assertThat(response.statusCode()).isEqualTo(405);
    assertThat(response.headers().firstValue("Allow")).hasValue("GET, HEAD");
    assertThat(json(response).get("error").textValue()).isEqualTo("method-not-allowed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\u0016\u0003\u0001\r\n\r\n",
        "GET /healthz\r\n\r\n",
        "GET / HTTP/1.1\r\na b: c\r\n\r\n"
      })
  void garbageIsABadRequestAndTheConnectionEnds(String garbage) throws IOException {
    assertThat(raw(garbage)).startsWith("HTTP/1.1 400 ").contains("\"error\":\"bad-request\"");
  }

  @Test
  void tooLargeBodyIsRefused() throws IOException {
    assertThat(raw("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"))
        .startsWith("HTTP/1.1 413 ");
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws IOException {
    String get = " HTTP/1.1\r\nHost: a\r\n";
    String answers =
        raw(
            "GET /metrics"
                + get
                + "\r\nGET /healthz"
                + get
                + "\r\nGET /readyz"
                + get
                + "Connection: close\r\n\r\n");

    assertThat(answers).containsSubsequence("gateway_in_flight", "\"alive\"", "\"ready\"");
    assertThat(answers.split("HTTP/1.1 200 OK", -1)).hasSize(4);
  }

  @Test
  void connectionsBeyondTheLimitAreClosed() throws IOException {
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
      }
      await().until(() -> connectionIsRefused());
      sockets.remove(0).close();
      await().until(() -> !connectionIsRefused());
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  private boolean connectionIsRefused() {
    try {
      return raw("GET /healthz HTTP/1.0\r\n\r\n").isEmpty();
    } catch (IOException reset) {
      return true;
    }
  }

  @Test
  void failingEndpointIsA500() throws Exception {
    readiness =
        () -> {
          throw new IllegalStateException("planted");
        };
    try (CapturedLog log = new CapturedLog(AdminHandler.class.getName())) {
      assertThat(send("GET", "/readyz").statusCode()).isEqualTo(500);
      assertThat(log.messages()).containsExactly("/readyz failed");
    }
  }

  @Test
  void closedServerTakesNoConnections() throws Exception {
    send("GET", "/healthz");
    server.close();

    await().until(this::connectionIsRefused);
  }
}
