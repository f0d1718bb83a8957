package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How many connections an address may have, and what becomes of their places. */
class ConnectionPlacesTest {

  private static final byte[] GET = RawClient.request("GET", "/a", null, null, null);
  private static final byte[] METRICS = RawClient.request("GET", "/metrics", null, null, null);

  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private final List<RawClient> clients = new ArrayList<>();

  @AfterEach
  void stop() {
    clients.forEach(RawClient::close);
    upstream.close();
  }

  private EdgeYaml two() {
    return EdgeYaml.of(upstream.url()).threads(2).limits("connections-per-address: 2");
  }

  /** From one of the addresses of the loopback network. */
  private RawClient from(String address, int port) {
    try {
      InetAddress own = InetAddress.getByName(address);
      RawClient client = RawClient.over(new Socket(InetAddress.getLoopbackAddress(), port, own, 0));
      clients.add(client);
      return client;
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private RawClient served(String address, int port) {
    RawClient client = from(address, port);
    assertThat(client.send(GET).read().status()).isEqualTo(200);
    return client;
  }

  private static String metrics(TestGateway gateway) {
    return RawClient.once(gateway.adminPort(), METRICS).text();
  }

  private void placeComesBack(TestGateway gateway) {
    await()
        .until(
            () -> {
              try (RawClient next = from("127.0.0.1", gateway.port())) {
                return next.send(GET).peek() == 'H';
              } catch (java.io.UncheckedIOException e) {
                return false;
              }
            });
  }

  @Test
  void addressWithoutAPlaceIsClosedAndCountedAndOthersAreServed() {
    try (TestGateway gateway = two().start()) {
      RawClient first = served("127.0.0.1", gateway.port());
      RawClient second = served("127.0.0.1", gateway.port());
      assertThat(from("127.0.0.1", gateway.port()).isClosedByPeer()).isTrue();
      assertThat(from("127.0.0.1", gateway.port()).isClosedByPeer()).isTrue();
      assertThat(metrics(gateway))
          .contains("gateway_connections_refused_total 2.0")
          .contains("gateway_client_connections 2.0");

      served("127.0.0.2", gateway.port());
      assertThat(first.send(GET).read().status()).isEqualTo(200);
      assertThat(second.send(GET).read().status()).isEqualTo(200);
    }
  }

  @Test
  void placesComeBackHoweverTheirConnectionsEnd() {
    try (TestGateway gateway = two().start()) {
      served("127.0.0.1", gateway.port()).close();
      served("127.0.0.1", gateway.port()).reset();
      placeComesBack(gateway);
      RawClient malformed = from("127.0.0.1", gateway.port());
      assertThat(malformed.send("\0\r\n\r\n").read().status()).isEqualTo(400);
      assertThat(malformed.isClosedByPeer()).isTrue();
      malformed.close();
      from("127.0.0.1", gateway.port()).reset();
      placeComesBack(gateway);
      await().until(() -> metrics(gateway).contains("gateway_client_connections 0.0"));
    }
  }

  @Test
  void listenersShareThePlacesOfAnAddressAndAHandshakeTakesOne(@TempDir Path files) {
    X509Bundle server = Certificates.authority("Test CA").server();
    Path key = Certificates.write(files.resolve("gw.key"), server.getPrivateKeyPEM());
    Path certificate = Certificates.write(files.resolve("gw.crt"), server.getCertificatePathPEM());
    String tls = "tls: { certificate: \"" + certificate + "\", key: \"" + key + "\" }";
    String listen = "listen: [\"127.0.0.1:0\", { address: \"127.0.0.1:0\", " + tls + " }]";
    try (TestGateway gateway = two().top(listen).start()) {
      RawClient plain = served("127.0.0.1", gateway.ports().get(0));
      RawClient inHello = from("127.0.0.1", gateway.ports().get(1)).send("\u0016\u0003\u0001");
      await().until(() -> metrics(gateway).contains("gateway_client_connections 2.0"));
      for (int port : gateway.ports()) {
        assertThat(from("127.0.0.1", port).isClosedByPeer()).isTrue();
      }
      assertThat(plain.send(GET).read().status()).isEqualTo(200);
      inHello.reset();
      placeComesBack(gateway);
    }
  }

  @Test
  void trustedProxyHasNoLimitOfItsOwn() {
    try (TestGateway gateway = two().top("trusted-proxies: [127.0.0.1]").start()) {
      for (int i = 0; i < 5; i++) {
        served("127.0.0.1", gateway.port());
      }
      served("127.0.0.2", gateway.port());
      served("127.0.0.2", gateway.port());
      assertThat(from("127.0.0.2", gateway.port()).isClosedByPeer()).isTrue();
    }
  }
}
