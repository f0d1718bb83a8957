package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.RedisCluster;
import dev.idempotency.gateway.testing.RedisServer;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Redis behind TLS: an authority of one's own, and a certificate for the gateway. */
class RedisTlsTest {

  private static final Certificates AUTHORITY = Certificates.authority("Store CA");
  private static final Certificates STRANGER = Certificates.authority("Another CA");
  private static final X509Bundle OWN = AUTHORITY.client("CN=gateway");
  @TempDir private static Path files;

  @BeforeAll
  static void write() {
    write("server", AUTHORITY.server());
    write("elsewhere", AUTHORITY.issue(it -> it.subject("CN=x").addSanDnsName("other.test")));
    Certificates.write(files.resolve("ca.crt"), AUTHORITY.bundle().getCertificatePEM());
  }

  private static void write(String name, X509Bundle bundle) {
    Certificates.write(files.resolve(name + ".crt"), bundle.getCertificatePathPEM());
    Certificates.write(files.resolve(name + ".key"), bundle.getPrivateKeyPEM());
  }

  private static List<String> tls(String certificate, String clients) {
    return List.of(
        "--tls-cert-file",
        files.resolve(certificate + ".crt").toString(),
        "--tls-key-file",
        files.resolve(certificate + ".key").toString(),
        "--tls-ca-cert-file",
        files.resolve("ca.crt").toString(),
        "--tls-auth-clients",
        clients);
  }

  private static RedisServer start(int port, String certificate, String clients) {
    List<String> options = new ArrayList<>(List.of("--tls-port", Integer.toString(port)));
    options.addAll(tls(certificate, clients));
    return RedisServer.start(options.toArray(String[]::new));
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static RedisTls trusting(Certificates authority) {
    return new RedisTls(List.of(authority.bundle().getCertificate()), List.of(), null);
  }

  private static RedisTls showing(X509Bundle own) {
    return new RedisTls(
        List.of(AUTHORITY.bundle().getCertificate()),
        List.of(own.getCertificatePath()),
        own.getKeyPair().getPrivate());
  }

  private static RedisStoreOptions options(String url, RedisTls tls) {
    return RedisStoreOptions.of(url)
        .withDeadline(Duration.ofSeconds(10))
        .withAccess(RedisAccess.NONE.withTls(tls));
  }

  private static void assertWorks(RedisStoreOptions options) {
    try (LoopStore store = LoopStore.connected(options)) {
      for (int i = 0; i < 50; i++) {
        assertThat(await(store.store().reserve(reservation()))).isEqualTo(ReserveReply.ACQUIRED);
      }
    }
  }

  private static void assertNeverConnects(RedisStoreOptions options) {
    try (LoopStore store = LoopStore.started(options)) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> !store.store().detail().contains("for the first time"));
      assertThat(store.store().reachable()).isFalse();
    }
  }

  @Test
  void privateAuthorityAndClientCertificateAreUsed() {
    int port = freePort();
    try (RedisServer unused = start(port, "server", "yes")) {
      String url = "rediss://127.0.0.1:" + port + "/3";
      assertWorks(options(url, showing(OWN)));
      assertNeverConnects(options(url, showing(STRANGER.client("CN=gateway"))));
      assertNeverConnects(options(url, trusting(AUTHORITY)));
    }
  }

  @Test
  void serverThatCannotProveWhoItIsGetsNothing() {
    int port = freePort();
    try (RedisServer unused = start(port, "server", "no")) {
      String url = "rediss://127.0.0.1:" + port;
      assertWorks(options(url, trusting(AUTHORITY)));
      assertNeverConnects(options(url, trusting(STRANGER)));
      assertNeverConnects(RedisStoreOptions.of(url));
    }
  }

  @Test
  void serverWithACertificateForAnotherNameGetsNothing() {
    int port = freePort();
    try (RedisServer unused = start(port, "elsewhere", "no")) {
      assertNeverConnects(options("rediss://127.0.0.1:" + port, trusting(AUTHORITY)));
    }
  }

  @Test
  void nodesOfAClusterAreSpokenToOverTls() {
    List<String> options = new ArrayList<>(List.of("--tls-cluster", "yes"));
    options.addAll(tls("server", "yes"));
    try (RedisCluster cluster = RedisCluster.startTls(options.toArray(String[]::new))) {
      assertWorks(options(cluster.tlsUrl(), showing(OWN)));
    }
  }
}
