package dev.idempotency.loadtest;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/** Ports of this machine. */
final class Ports {

  /**
   * Below those that systems give to outgoing connections: such a port could be taken while the
   * process that it is for is dead.
   */
  private static final int LOWEST = 12_000;

  private static final int HIGHEST = 32_000;
  private static final int TRIES = 1_000;
  private static final int CONNECT_MILLIS = 500;
  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

  private Ports() {}

  /** One that nobody has, and that is given only once. */
  static int free() {
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
      if (isFree(port) && GIVEN.add(port)) {
        return port;
      }
    }
    throw new IllegalStateException("no free port between " + LOWEST + " and " + HIGHEST);
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }

  static boolean answers(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
