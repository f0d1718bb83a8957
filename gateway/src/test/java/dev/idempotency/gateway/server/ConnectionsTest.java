package dev.idempotency.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class ConnectionsTest {

  @Test
  void listenersHavePlacesOfTheirOwnAndAnAddressHasItsOnAllTogether() {
    Connections connections = new Connections(3);
    Connections.Listener a = connections.listener(2);
    Connections.Listener b = connections.listener(10);
    assertThat(a.take("1.1.1.1", true)).isTrue();
    assertThat(a.take("2.2.2.2", true)).isTrue();
    assertThat(a.take("3.3.3.3", true)).as("the listener is full").isFalse();
    assertThat(b.take("1.1.1.1", true)).isTrue();
    assertThat(b.take("1.1.1.1", true)).isTrue();
    assertThat(b.take("1.1.1.1", true)).as("the address has its three").isFalse();
    assertThat(b.take("1.1.1.1", false)).as("a trusted proxy").isTrue();
    assertThat(connections.open()).isEqualTo(5);
    assertThat(connections.refused()).isEqualTo(2);
  }

  @Test
  void addressWithoutConnectionsIsForgotten() {
    Connections connections = new Connections(2);
    Connections.Listener listener = connections.listener(10);
    listener.take("1.1.1.1", true);
    listener.take("1.1.1.1", true);
    listener.take("1.1.1.1", true);
    listener.giveBack("1.1.1.1", true);
    assertThat(connections.addresses()).isEqualTo(1);
    assertThat(listener.take("1.1.1.1", true)).isTrue();
    listener.giveBack("1.1.1.1", true);
    listener.giveBack("1.1.1.1", true);
    assertThat(connections.addresses()).isZero();
    assertThat(connections.open()).isZero();
  }

  @Test
  void addressesOfOneIpv6NetworkShareTheirPlaces() {
    Connections.Listener listener = new Connections(2).listener(10);
    assertThat(listener.take("2001:db8::1", true)).isTrue();
    assertThat(listener.take("2001:db8:0:0:ffff::2", true)).isTrue();
    assertThat(listener.take("2001:db8::3", true)).isFalse();
    assertThat(listener.take("2001:db8:0:1::1", true)).as("another /64").isTrue();
    listener.giveBack("2001:db8::1", true);
    assertThat(listener.take("2001:db8::3", true)).isTrue();
  }

  @Test
  void mappedAddressIsTheIpv4Address() throws UnknownHostException {
    byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 1, 2, 3};
    InetAddress address = Inet6Address.getByAddress("x", mapped, 0);
    assertThat(address).isInstanceOf(Inet6Address.class);
    assertThat(Connections.textOf(new InetSocketAddress(address, 1))).isEqualTo("10.1.2.3");
  }

  @Test
  void addressHasNoZone() throws UnknownHostException {
    byte[] local = {-2, -128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    InetAddress address = Inet6Address.getByAddress("x", local, 3);
    assertThat(Connections.textOf(new InetSocketAddress(address, 1))).isEqualTo("fe80::1");
    assertThat(Connections.textOf(null)).isEqualTo("unknown");
  }
}
