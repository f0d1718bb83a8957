package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.transport.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is believed about the client, and addresses of both kinds, as a file says it. */
@ParameterizedClass
@MethodSource("dev.idempotency.gateway.testing.Transports#all")
class ForwardedYamlTest {

  private final Transport transport;
  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private TestGateway gateway;

  ForwardedYamlTest(Transport transport) {
    this.transport = transport;
  }

  @AfterEach
  void stop() {
    gateway.close();
    upstream.close();
  }

  private void start(String listen, String... top) {
    gateway =
        EdgeYaml.of(upstream.url()).top("listen: \"" + listen + ":0\"").top(top).start(transport);
  }

  private RawResponse get(String address, String host, String... headerLines) throws IOException {
    StringBuilder request = new StringBuilder("GET /a HTTP/1.1\r\nHost: " + host + "\r\n");
    for (String line : headerLines) {
      request.append(line).append("\r\n");
    }
    request.append("\r\n");
    try (RawClient client =
        RawClient.over(new Socket(InetAddress.getByName(address), gateway.port()))) {
      return client.send(request.toString()).read();
    }
  }

  /** Every address is listened on, so a client of IPv4 has one that is mapped into IPv6. */
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "127.0.0.0/8"})
  void peerOfIpv4IsTheSameOnAListenerOfBothKinds(String trusted) throws IOException {
    start("[::]", "trusted-proxies: [\"" + trusted + "\"]");
    assertThat(get("127.0.0.1", "gw.test", "X-Forwarded-For: 198.51.100.7").status())
        .isEqualTo(200);
    assertThat(upstream.last().headers("X-Forwarded-For"))
        .containsExactly("198.51.100.7, 127.0.0.1");
    assertThat(upstream.last().header("Forwarded"))
        .isEqualTo("for=198.51.100.7, for=127.0.0.1;proto=http;host=\"gw.test\"");

    assertThat(get("::1", "gw.test", "X-Forwarded-For: 198.51.100.7").status()).isEqualTo(200);
    assertThat(upstream.last().headers("X-Forwarded-For")).containsExactly("::1");
    assertThat(upstream.last().header("Forwarded"))
        .isEqualTo("for=\"[::1]\";proto=http;host=\"gw.test\"");
  }

  /** The peer wrote the last entry and is trusted, and so is the proxy that the entry names. */
  @Test
  void chainOfTwoTrustedProxiesIsContinuedUpToTheClientAndNoFurther() throws IOException {
    start("127.0.0.1", "trusted-proxies: [127.0.0.1, 10.0.0.0/8]");
    assertThat(
            get(
                    "127.0.0.1",
                    "gw.test",
                    "X-Forwarded-For: 203.0.113.9, 198.51.100.7, 10.1.1.1",
                    "Forwarded: for=203.0.113.9, for=198.51.100.7, for=10.1.1.1")
                .status())
        .isEqualTo(200);
    assertThat(upstream.last().headers("X-Forwarded-For"))
        .containsExactly("198.51.100.7, 10.1.1.1, 127.0.0.1");
    assertThat(upstream.last().header("Forwarded"))
        .isEqualTo("for=198.51.100.7, for=10.1.1.1, for=127.0.0.1;proto=http;host=\"gw.test\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"::1", "0:0:0:0:0:0:0:1", "::/64"})
  void peerOfIpv6IsBelievedHoweverItsAddressIsWritten(String trusted) throws IOException {
    start("[::1]", "trusted-proxies: [\"" + trusted + "\"]");
    assertThat(
            get("::1", "[::1]:8080", "Forwarded: for=\"[2001:db8::7]:4711\";proto=https").status())
        .isEqualTo(200);
    assertThat(upstream.last().header("X-Forwarded-For")).isEqualTo("2001:db8::7, ::1");
    assertThat(upstream.last().header("X-Forwarded-Host")).isEqualTo("[::1]:8080");
    assertThat(upstream.last().header("Host")).isEqualTo("[::1]:8080");
    assertThat(upstream.last().header("Forwarded"))
        .isEqualTo(
            "for=\"[2001:db8::7]:4711\";proto=https,"
                + " for=\"[::1]\";proto=http;host=\"[::1]:8080\"");
  }

  @ParameterizedTest
  @CsvSource({
    "[::1], 200",
    "[::1]:8080, 200",
    "[::1]:, 200",
    "API.example.com:8080, 200",
    "api.example.com, 200",
    "[::2], 421",
    "[::ffff:127.0.0.1], 421",
    "127.0.0.1, 421",
    "evil.api.example.com, 421",
    "::1, 400",
    "[::1, 400",
    "[::1]x, 400",
    "[::1]:x, 400",
    "[::1]:65536, 400",
    "[fe80::1%25lo], 400",
    "[api.example.com], 400",
    "user@api.example.com, 400"
  })
  void hostIsReadInAllItsForms(String host, int status) throws IOException {
    start("[::1]", "hosts: [\"[::1]\", api.example.com]");
    assertThat(get("::1", host).status()).isEqualTo(status);
    assertThat(upstream.requests()).isEqualTo(status == 200 ? 1 : 0);
  }

  @Test
  void upstreamAtAnAddressOfIpv6IsReached() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getAllByName("::1")[0], 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] host =
              exchange.getRequestHeaders().getFirst("Host").getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, host.length);
          exchange.getResponseBody().write(host);
          exchange.close();
        });
    server.start();
    try {
      gateway =
          EdgeYaml.of("http://[::1]:" + server.getAddress().getPort())
              .upstream("health-check: { path: /, interval: 5s, timeout: 5s }")
              .start(transport);
      assertThat(get("127.0.0.1", "gw.test").text()).isEqualTo("gw.test");
      assertThat(gateway.gateway().describe()).contains("http://[::1]:");
    } finally {
      server.stop(0);
    }
  }
}
