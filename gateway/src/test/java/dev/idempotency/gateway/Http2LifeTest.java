package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.Http2RawClient;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How connections begin, rest and end (RFC 9113 §3.4, §6.8). */
class Http2LifeTest {

  private static final int SETTINGS_TIMEOUT = 4;
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final byte[] PREFACE = Http2RawClient.PREFACE.getBytes(StandardCharsets.US_ASCII);

  private final ScriptedUpstream upstream = ScriptedUpstream.ok();
  private final ScriptedUpstream.Gate gate = new ScriptedUpstream.Gate();

  @AfterEach
  void stop() {
    gate.open();
    upstream.close();
  }

  @Test
  void drainedConnectionAnswersWhatIsUnderWayAndCloses() {
    upstream.script(gate::passAndAnswer);
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port()).mute()) {
      client.settingsAcknowledged().get(1, "/a");
      await().until(() -> upstream.requests() == 1);
      edge.server().drain();
      client.readUntil(() -> client.goAways().size() == 1);
      assertThat(client.lastStream()).as("a warning").isEqualTo(Integer.MAX_VALUE);

      // The client did not know yet.
      client.get(3, "/b");
      await().until(() -> upstream.requests() == 2);
      client.readUntil(() -> client.goAways().size() == 2);
      assertThat(client.lastStream()).isEqualTo(3);
      client.get(5, "/c");

      gate.open();
      assertThat(client.read(1).text()).isEqualTo("ok");
      assertThat(client.read(3).text()).isEqualTo("ok");
      client.readToEnd();
      assertThat(client.goAways()).containsExactly(0, 0);
      assertThat(upstream.requests()).isEqualTo(2);
      await().until(() -> edge.server().connections() == 0);
    }
  }

  @Test
  void drainedConnectionAtRestCloses() {
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port());
        RawClient undecided = RawClient.connect(edge.port())) {
      client.get(1, "/a").read(1);
      await().until(() -> edge.server().connections() == 2);
      edge.server().drain();
      client.readToEnd();
      assertThat(client.goAways()).containsExactly(0, 0);
      assertThat(client.lastStream()).isEqualTo(1);
      assertThat(undecided.isClosedByPeer()).isTrue();
    }
  }

  @Test
  void closedServerEndsConnectionsAtOnce() {
    upstream.script(gate::passAndAnswer);
    try (Http2Edge edge = Http2Edge.start(upstream.url());
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.get(1, "/a");
      await().until(() -> upstream.requests() == 1);
      edge.server().close();
      client.readToEnd();
      await().until(() -> edge.server().connections() == 0);
    }
  }

  @Test
  void connectionAtRestIsToldAndClosed() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "idle-timeout: 500ms");
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.get(1, "/a").read(1);
      client.readToEnd();
      assertThat(client.goAways()).containsExactly(0, 0);
    }
  }

  @Test
  void pingsDoNotKeepAConnectionAtRest() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "idle-timeout: 500ms");
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      while (client.goAways().isEmpty() && !client.isClosed()) {
        int pings = client.pings();
        client.ping().readUntil(() -> client.pings() > pings || !client.goAways().isEmpty());
        // A flood of them would end it for another reason.
        long next = System.nanoTime() + 20_000_000;
        await().pollInSameThread().until(() -> System.nanoTime() > next);
      }
      assertThat(client.goAways()).isNotEmpty();
    }
  }

  @Test
  void connectionWhoseExchangeIsUnderWayIsNotAtRest() {
    upstream.script(gate::passAndAnswer);
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "idle-timeout: 300ms");
        Http2RawClient client = Http2RawClient.connect(edge.port());
        Http2RawClient resting = Http2RawClient.connect(edge.port())) {
      client.get(1, "/a");
      resting.readToEnd();
      gate.open();
      assertThat(client.read(1).text()).isEqualTo("ok");
    }
  }

  @Test
  void fieldBlockThatStaysUnfinishedEndsTheConnection() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "head-timeout: 500ms");
        Http2RawClient client = Http2RawClient.connect(edge.port()).mute()) {
      client.settingsAcknowledged();
      client.send(Http2RawClient.frame(Http2RawClient.HEADERS, 0, 1, new byte[0])).readToEnd();
      assertThat(client.goAways()).containsExactly(ENHANCE_YOUR_CALM);
    }
  }

  @Test
  void frameThatStaysUnfinishedEndsTheConnection() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "head-timeout: 500ms");
        Http2RawClient client = Http2RawClient.connect(edge.port())) {
      client.get(1, "/a").read(1);
      client.send(new byte[] {0, 0, 8, Http2RawClient.PING}).readToEnd();
      assertThat(client.goAways()).containsExactly(ENHANCE_YOUR_CALM);
    }
  }

  @Test
  void settingsThatAreNotAcknowledgedEndTheConnection() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "head-timeout: 500ms");
        Http2RawClient client = Http2RawClient.connect(edge.port()).mute()) {
      client.readToEnd();
      assertThat(client.goAways()).containsExactly(SETTINGS_TIMEOUT);
    }
  }

  @Test
  void prefaceThatIsNotWholeInTimeIsClosed() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "head-timeout: 500ms");
        Http2RawClient part = Http2RawClient.bare(edge.port());
        Http2RawClient noSettings = Http2RawClient.bare(edge.port())) {
      part.send(Arrays.copyOf(PREFACE, 20)).readToEnd();
      noSettings.send(PREFACE).readToEnd();
      assertThat(noSettings.goAways()).hasSize(1);
    }
  }

  @Test
  void connectionThatSendsNothingAtAllIsClosed() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "idle-timeout: 500ms");
        Http2RawClient client = Http2RawClient.bare(edge.port())) {
      assertThat(client.readToEnd().isClosed()).isTrue();
    }
  }

  @Test
  void addressWithTooManyConnectionsGetsNoMoreUntilOneEnds() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "connections-per-address: 2");
        Http2RawClient first = Http2RawClient.connect(edge.port());
        Http2RawClient second = Http2RawClient.connect(edge.port())) {
      assertThat(first.get(1, "/a").read(1).text()).isEqualTo("ok");
      assertThat(second.get(1, "/a").read(1).text()).isEqualTo("ok");
      try (Http2RawClient third = Http2RawClient.bare(edge.port())) {
        assertThat(third.readToEnd().isClosed()).isTrue();
      }
      assertThat(edge.server().refusedConnections()).isEqualTo(1);
      first.close();
      await().until(() -> edge.server().connections() == 1);
      try (Http2RawClient third = Http2RawClient.connect(edge.port())) {
        assertThat(third.get(1, "/a").read(1).text()).isEqualTo("ok");
      }
    }
  }

  @Test
  void connectionsBeyondThoseOfTheListenerAreRefused() {
    try (Http2Edge edge = Http2Edge.start(upstream.url(), "connections: 1");
        Http2RawClient first = Http2RawClient.connect(edge.port())) {
      assertThat(first.get(1, "/a").read(1).text()).isEqualTo("ok");
      try (Http2RawClient second = Http2RawClient.bare(edge.port())) {
        assertThat(second.readToEnd().isClosed()).isTrue();
      }
      assertThat(edge.server().connections()).isEqualTo(1);
    }
  }
}
