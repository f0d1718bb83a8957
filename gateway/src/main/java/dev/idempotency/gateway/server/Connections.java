package dev.idempotency.gateway.server;

import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The places for clients' connections: so many on each listener, and so many for each client
 * address on all of them together. An address takes memory only while it has a connection.
 *
 * <p>Threading: safe from any thread.
 */
final class Connections {

  private static final int MAPPED_PREFIX = 12;
  private static final int NETWORK_BYTES = 8;

  private final int mostOfAddress;
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicLong refused = new AtomicLong();
  private final Map<String, Integer> ofAddress = new ConcurrentHashMap<>();

  /**
   * @param mostOfAddress 0: no limit
   */
  Connections(int mostOfAddress) {
    this.mostOfAddress = mostOfAddress;
  }

  /** The places of one listener. */
  final class Listener {

    private final int most;
    private final AtomicInteger taken = new AtomicInteger();

    private Listener(int most) {
      this.most = most;
    }

    /**
     * Takes a place if one is left.
     *
     * @param limited whether the limit of an address holds for this one; a trusted proxy stands for
     *     many clients
     */
    boolean take(String address, boolean limited) {
      if (taken.incrementAndGet() > most) {
        taken.decrementAndGet();
        refused.incrementAndGet();
        return false;
      }
      if (limited && mostOfAddress > 0 && !takeOf(networkOf(address))) {
        taken.decrementAndGet();
        refused.incrementAndGet();
        return false;
      }
      open.incrementAndGet();
      return true;
    }

    /** Gives back a place that was taken with the same arguments. */
    void giveBack(String address, boolean limited) {
      taken.decrementAndGet();
      open.decrementAndGet();
      if (limited && mostOfAddress > 0) {
        ofAddress.computeIfPresent(
            networkOf(address), (same, count) -> count > 1 ? count - 1 : null);
      }
    }
  }

  /** Whoever has one IPv6 address has all of its /64 (RFC 6177 §2): they count as one. */
  static String networkOf(String address) {
    byte[] bytes =
        address.indexOf(':') < 0 ? null : NetUtil.createByteArrayFromIpAddressString(address);
    return bytes == null || bytes.length <= NETWORK_BYTES
        ? address
        : HexFormat.of().formatHex(bytes, 0, NETWORK_BYTES);
  }

  Listener listener(int most) {
    return new Listener(most);
  }

  private boolean takeOf(String address) {
    int[] count = {0};
    ofAddress.compute(
        address,
        (same, known) -> {
          count[0] = known == null ? 1 : known + 1;
          return count[0] > mostOfAddress ? known : Integer.valueOf(count[0]);
        });
    return count[0] <= mostOfAddress;
  }

  int open() {
    return open.get();
  }

  long refused() {
    return refused.get();
  }

  /** How many addresses have a connection; 0 where they are not counted. */
  int addresses() {
    return ofAddress.size();
  }

  /**
   * The address in the text form that exchanges want, the one that RFC 5952 recommends, so that who
   * compares texts finds it; "unknown" for none. A zone means nothing elsewhere and is left out.
   */
  static String textOf(@Nullable SocketAddress remote) {
    if (!(remote instanceof InetSocketAddress known) || known.getAddress() == null) {
      return "unknown";
    }
    return NetUtil.toAddressString(unmapped(known.getAddress()));
  }

  /** Some transports leave an IPv4 address mapped into IPv6 (RFC 4291 §2.5.5.2). */
  private static InetAddress unmapped(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (address instanceof Inet4Address || bytes[10] != -1 || bytes[11] != -1) {
      return address;
    }
    for (int i = 0; i < MAPPED_PREFIX - 2; i++) {
      if (bytes[i] != 0) {
        return address;
      }
    }
    try {
      return InetAddress.getByAddress(Arrays.copyOfRange(bytes, MAPPED_PREFIX, bytes.length));
    } catch (UnknownHostException e) {
      return address;
    }
  }
}
