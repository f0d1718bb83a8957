package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.gateway.testing.RawClient;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;

class ListenersTest {

  private static final byte[] QUESTION =
      RawClient.request("GET", "/.well-known/idempotency", null, null, null);

  @Test
  void everyListenerOfAListAnswersAndIsNamedAtStartUntilTheGatewayCloses() throws IOException {
    TestGateway gateway = two("127.0.0.1:0");
    try (gateway) {
      assertThat(gateway.ports()).hasSize(2).doesNotHaveDuplicates();
      assertThat(gateway.port()).isEqualTo(gateway.ports().get(0));
      for (int port : gateway.ports()) {
        assertThat(RawClient.once(port, QUESTION).status()).isEqualTo(200);
        assertThat(gateway.gateway().describe()).contains("http://127.0.0.1:" + port);
      }
    }
    for (int port : gateway.ports()) {
      assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
          .isInstanceOf(ConnectException.class);
    }
  }

  @Test
  void storeThatOneGatewayHasForItselfIsNamedAsThatAtStart() {
    try (TestGateway gateway = two("127.0.0.1:0")) {
      assertThat(gateway.gateway().describe())
          .endsWith("store memory (one gateway only, records do not survive a restart)");
    }
  }

  @Test
  void listenerWhosePlaceIsTakenIsNamedByItsPositionInTheList() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> two("127.0.0.1:" + taken.getLocalPort()).close())
          .hasMessageContaining("listen[1]: 127.0.0.1:" + taken.getLocalPort())
          .hasMessageContaining("(choose another, or stop what listens there)");
    }
  }

  private static TestGateway two(String second) {
    return EdgeYaml.of("http://127.0.0.1:1")
        .top("listen: [\"127.0.0.1:0\", { address: \"" + second + "\" }]")
        .start();
  }
}
