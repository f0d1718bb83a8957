package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Certificates;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RedisServer;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** User, password and TLS to Redis as the file names them. */
class RedisAccessYamlTest {

  private static final Certificates AUTHORITY = Certificates.authority("Store CA");
  @TempDir private Path files;

  private String write(String name, X509Bundle bundle) {
    Certificates.write(files.resolve(name + ".key"), bundle.getPrivateKeyPEM());
    return Certificates.write(files.resolve(name + ".crt"), bundle.getCertificatePathPEM())
        .toString();
  }

  private String store(int port, String key) {
    return """
    { url: "rediss://127.0.0.1:%d/4", user: gateway, password: { file: "%s" },
      tls: { ca: "%s", certificate: "%s", key: "%s" } }"""
        .formatted(
            port,
            files.resolve("password"),
            files.resolve("ca.crt"),
            files.resolve("own.crt"),
            files.resolve(key));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Test
  void storeOfTheFileIsUsedWithItsSecrets() throws IOException {
    Certificates.write(files.resolve("ca.crt"), AUTHORITY.bundle().getCertificatePEM());
    Files.writeString(files.resolve("password"), "s3cret\n");
    String certificate = write("server", AUTHORITY.server());
    write("own", AUTHORITY.client("CN=gateway"));
    write("other", AUTHORITY.client("CN=other"));
    int port = freePort();
    try (RedisServer redis =
            RedisServer.start(
                "--tls-port",
                Integer.toString(port),
                "--tls-cert-file",
                certificate,
                "--tls-key-file",
                files.resolve("server.key").toString(),
                "--tls-ca-cert-file",
                files.resolve("ca.crt").toString());
        ScriptedUpstream upstream = ScriptedUpstream.ok()) {
      redis.call("ACL", "SETUSER", "gateway", "on", ">s3cret", "~*", "&*", "+@all");
      try (TestGateway gateway =
          TestGateway.start(upstream.url(), store(port, "own.key"), "idempotency: required")) {
        await().atMost(Duration.ofSeconds(20)).until(gateway::isReady);
        byte[] request = post("/orders", "k", "{}", "Authorization: Bearer t");
        assertThat(RawClient.once(gateway.port(), request).status()).isEqualTo(200);
        assertThat(RawClient.once(gateway.port(), request).isReplay()).isTrue();
      }
      assertThatThrownBy(() -> TestGateway.start(upstream.url(), store(port, "other.key")))
          .hasMessageContaining("store.tls")
          .hasMessageContaining("other.key");
    }
  }
}
