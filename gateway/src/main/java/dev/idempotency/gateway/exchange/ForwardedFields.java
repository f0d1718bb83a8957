package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HopByHop;
import dev.idempotency.gateway.http.RequestHead;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes the head that goes upstream from the head that came. */
final class ForwardedFields {

  private static final String PSEUDONYM = "idempotency-gateway";

  /** What only the gateway may set, and framing, which the edge makes anew. */
  private static final Set<String> REPLACED =
      Set.of(
          "idempotency-attempt",
          "idempotency-probe",
          "forwarded",
          "x-forwarded-for",
          "x-forwarded-host",
          "x-forwarded-proto",
          "x-forwarded-port",
          "content-length",
          "expect",
          "via");

  private ForwardedFields() {}

  /**
   * The head to send.
   *
   * @param attempt the attempt's number, or 0 for a request without a key
   */
  static RequestHead of(RequestHead head, Peer peer, long attempt) {
    Headers received = head.headers();
    List<String> nominated = received.all("connection");
    Headers sent = new Headers();
    for (int i = 0; i < received.size(); i++) {
      String name = received.name(i);
      if (!HopByHop.isHopByHop(name)
          && !isReplaced(name)
          && (nominated.isEmpty() || !HopByHop.isNominated(nominated, name))) {
        sent.add(name, received.value(i));
      }
    }
    String host = received.get("host");
    addForwarded(sent, peer, host);
    sent.add("Via", via(received.all("via"), peer));
    if (attempt > 0) {
      sent.add("Idempotency-Attempt", Long.toString(attempt));
    }
    return head.withHeaders(sent);
  }

  private static void addForwarded(Headers sent, Peer peer, @Nullable String host) {
    boolean ipv6 = peer.address().indexOf(':') >= 0;
    String node = ipv6 ? "\"[" + peer.address() + "]\"" : peer.address();
    String forwarded = "for=" + node + ";proto=" + peer.scheme();
    sent.add("X-Forwarded-For", peer.address());
    sent.add("X-Forwarded-Proto", peer.scheme());
    if (host != null && isQuotable(host)) {
      sent.add("X-Forwarded-Host", host);
      forwarded += ";host=\"" + host + '"';
    }
    sent.add("Forwarded", forwarded);
  }

  private static boolean isQuotable(String host) {
    return host.indexOf('"') < 0 && host.indexOf('\\') < 0;
  }

  private static String via(List<String> received, Peer peer) {
    String own = peer.protocol() + ' ' + PSEUDONYM;
    return received.isEmpty() ? own : String.join(", ", received) + ", " + own;
  }

  /** Gateways of applications (CGI, WSGI) take an underscore for a hyphen, and so it is here. */
  private static boolean isReplaced(String name) {
    return switch (name.length()) {
      case 3, 6, 9, 14, 15, 16, 17, 19 ->
          REPLACED.contains(name.toLowerCase(Locale.ROOT).replace('_', '-'));
      default -> false;
    };
  }
}
