package dev.idempotency.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.UpstreamConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The choice among addresses, by what is thought of them and what is under way. */
class EndpointsTest {

  private static final long NOW = 7;

  private final HealthBoard board = new HealthBoard();
  private final Endpoints endpoints = new Endpoints(board);

  EndpointsTest() {
    Map<InetSocketAddress, UpstreamOptions.Address> known = new LinkedHashMap<>();
    for (int port = 1; port <= 3; port++) {
      known.put(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
          new UpstreamOptions.Address("127.0.0.1", port));
    }
    endpoints.replace(known, new Ejection(1, Duration.ofSeconds(10)), new Home());
  }

  private Endpoint at(int port) {
    return endpoints.all().get(port - 1);
  }

  private void eject(int port) {
    assertThat(endpoints.standing(at(port)).failed(NOW)).isTrue();
  }

  @Test
  void placeAtAnEjectedAddressIsNoneInsteadOfOneAtAnAddressThatIsWell() {
    share(2);
    eject(2);
    assertThat(endpoints.chooseWithPlace(NOW, at(1))).isNull();
  }

  @Test
  void placeAtAnUnhealthyAddressIsNoneInsteadOfOneAtAnAddressThatIsWell() {
    share(2);
    board.publish(Set.of(at(2).address()));
    assertThat(endpoints.chooseWithPlace(NOW, at(1))).isNull();
  }

  @Test
  void placeAtAnAddressThatIsAsBadIsOne() {
    share(2);
    eject(1);
    eject(2);
    assertThat(endpoints.chooseWithPlace(NOW, at(1))).isSameAs(at(2));
  }

  @Test
  void placeAtAnAddressThatIsBetterIsOne() {
    share(3);
    eject(1);
    eject(2);
    assertThat(endpoints.chooseWithPlace(NOW, at(1))).isSameAs(at(3));
  }

  private void share(int port) {
    at(port).connecting();
    assertThat(at(port).connected(new Shared())).isNotNull();
    assertThat(at(port).hasPlace()).isTrue();
  }

  /** A link with one exchange, and room for more. */
  private static final class Shared implements Link {
    @Override
    public UpstreamConnection take() {
      return new Http2Exchange(null, null, null);
    }

    @Override
    public int exchanges() {
      return 1;
    }

    @Override
    public boolean isFull() {
      return false;
    }

    @Override
    public boolean isOverdue() {
      return false;
    }

    @Override
    public void beat(long now) {}

    @Override
    public void retire() {}

    @Override
    public void close() {}
  }

  private static final class Home implements Endpoint.Home {

    private final Duration second = Duration.ofSeconds(1);

    @Override
    public UpstreamOptions options() {
      return new UpstreamOptions(
          "app",
          List.of(),
          null,
          true,
          second,
          second,
          second,
          second,
          Duration.ZERO,
          second,
          9,
          9,
          second,
          new Ejection(1, second),
          null);
    }

    @Override
    public String authority() {
      return "app:80";
    }

    @Override
    public long nanoTime() {
      return NOW;
    }

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public boolean mayKeepOverdue() {
      return true;
    }

    @Override
    public void roomLeft() {}

    @Override
    public void failed(Endpoint endpoint) {}

    @Override
    public void succeeded(Endpoint endpoint) {}
  }
}
