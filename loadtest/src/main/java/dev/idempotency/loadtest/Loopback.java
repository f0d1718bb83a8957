package dev.idempotency.loadtest;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;

/** Load goes to this machine only: nobody aims it at somebody else's service by mistake. */
final class Loopback {

  private Loopback() {}

  /**
   * The URL, if all addresses of its host are loopback.
   *
   * @throws IllegalArgumentException if it is no http URL or points elsewhere
   */
  static URI only(String option, String url) {
    URI uri = URI.create(url);
    if (!"http".equals(uri.getScheme()) || uri.getHost() == null) {
      throw new IllegalArgumentException(option + ": " + url + " (expected: http://127.0.0.1:…)");
    }
    try {
      for (InetAddress address : InetAddress.getAllByName(uri.getHost())) {
        if (!address.isLoopbackAddress()) {
          throw new IllegalArgumentException(
              option + ": " + url + " is not this machine (expected: a loopback address)");
        }
      }
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(option + ": " + url + " has an unknown host", e);
    }
    return uri;
  }
}
