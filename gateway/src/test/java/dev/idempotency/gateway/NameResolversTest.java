package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.gateway.testing.ScriptedNameServer;
import dev.idempotency.gateway.transport.Transport;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long what a name server said is believed. */
class NameResolversTest {

  private final Transport transport = Transport.best();
  private final EventLoopGroup group = transport.group(1, "names-test");
  private final EventLoop loop = group.next();
  private final ScriptedNameServer server = ScriptedNameServer.start();

  @AfterEach
  void stop() {
    server.close();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private NameResolvers resolvers(Duration most) {
    return new NameResolvers(
        transport, most, () -> new SingletonDnsServerAddressStreamProvider(server.address()));
  }

  private List<String> lookUp(NameResolvers resolvers, String name) {
    AtomicReference<Future<List<InetSocketAddress>>> answer = new AtomicReference<>();
    InetSocketAddress unresolved = InetSocketAddress.createUnresolved(name, 80);
    loop.submit(() -> answer.set(resolvers.getResolver(loop).resolveAll(unresolved)))
        .awaitUninterruptibly();
    Future<List<InetSocketAddress>> found = answer.get().awaitUninterruptibly();
    return found.isSuccess()
        ? found.getNow().stream().map(one -> one.getAddress().getHostAddress()).sorted().toList()
        : List.of();
  }

  @Test
  void allAddressesOfANameAreFound() {
    server.answer(3_600, "127.0.0.1", "127.0.0.2");
    assertThat(lookUp(resolvers(Duration.ofHours(1)), "app.test."))
        .containsExactly("127.0.0.1", "127.0.0.2");
  }

  @Test
  void answerIsBelievedAsLongAsItSays() {
    server.answer(3_600, "127.0.0.1");
    NameResolvers resolvers = resolvers(Duration.ofHours(1));
    lookUp(resolvers, "app.test.");
    int asked = server.questions();
    for (int i = 0; i < 50; i++) {
      assertThat(lookUp(resolvers, "app.test.")).containsExactly("127.0.0.1");
    }
    assertThat(server.questions()).isEqualTo(asked);
  }

  @Test
  void answerOfAShortTimeIsFollowedByAnother() {
    server.answer(1, "127.0.0.1");
    NameResolvers resolvers = resolvers(Duration.ofHours(1));
    assertThat(lookUp(resolvers, "app.test.")).containsExactly("127.0.0.1");
    server.answer(1, "127.0.0.2");
    await().until(() -> lookUp(resolvers, "app.test.").equals(List.of("127.0.0.2")));
  }

  @Test
  void answerOfALongTimeIsBelievedNoLongerThanTheInterval() {
    server.answer(3_600, "127.0.0.1");
    NameResolvers resolvers = resolvers(Duration.ofSeconds(1));
    assertThat(lookUp(resolvers, "app.test.")).containsExactly("127.0.0.1");
    server.answer(3_600, "127.0.0.2");
    await().until(() -> lookUp(resolvers, "app.test.").equals(List.of("127.0.0.2")));
  }

  @Test
  void nameThatDoesNotExistIsAskedForAgain() {
    NameResolvers resolvers = resolvers(Duration.ofHours(1));
    assertThat(lookUp(resolvers, "app.test.")).isEmpty();
    server.answer(3_600, "127.0.0.1");
    assertThat(lookUp(resolvers, "app.test.")).containsExactly("127.0.0.1");
  }

  @Test
  void hostsFileComesFirst() {
    server.answer(3_600, "127.0.0.9");
    assertThat(lookUp(resolvers(Duration.ofHours(1)), "localhost")).contains("127.0.0.1");
    assertThat(server.questions()).isZero();
  }
}
