package dev.idempotency.gateway.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class TestServersTest {

  @Test
  void sharedServerIsARedisOfVersionSevenOrLater() {
    String version = RedisServer.shared().call("INFO", "server");
    assertThat(version).containsPattern("redis_version:([7-9]|\\d\\d)\\.");
  }

  @Test
  void stoppedServerRefusesAndComesBackOnTheSamePort() {
    try (RedisServer server = RedisServer.start()) {
      server.stop();
      assertThatThrownBy(() -> server.call("PING")).isInstanceOf(IllegalStateException.class);
      server.restart();
      assertThat(server.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void pausedServerAnswersAfterItsResumption() throws IOException {
    try (RedisServer server = RedisServer.start();
        RespConnection connection = new RespConnection(server.host(), server.port())) {
      server.pause();
      Thread asker = new Thread(() -> server.resume());
      asker.start();
      assertThat(connection.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void swallowedReplyBelongsToAnExecutedCommand() throws IOException {
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.to(server);
        RespConnection connection = new RespConnection("127.0.0.1", proxy.port())) {
      assertThat(connection.call("SET", "a", "1")).isEqualTo("OK");
      proxy.swallowNextReply();
      assertThatThrownBy(() -> connection.call("SET", "a", "2")).isInstanceOf(IOException.class);
      assertThat(server.call("GET", "a")).isEqualTo("2");
      try (RespConnection next = new RespConnection("127.0.0.1", proxy.port())) {
        assertThat(next.call("PING")).isEqualTo("PONG");
      }
    }
  }

  @Test
  void refusingProxyRefusesUntilItPasses() throws IOException {
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.to(server)) {
      proxy.refuse();
      assertThatThrownBy(() -> new RespConnection("127.0.0.1", proxy.port()))
          .isInstanceOf(IOException.class);
      proxy.pass();
      try (RespConnection next = new RespConnection("127.0.0.1", proxy.port())) {
        assertThat(next.call("PING")).isEqualTo("PONG");
      }
      await().until(() -> proxy.open() == 0);
    }
  }
}
