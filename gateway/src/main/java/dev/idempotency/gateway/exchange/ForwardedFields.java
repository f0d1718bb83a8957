package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HopByHop;
import dev.idempotency.gateway.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes the head that goes upstream from the head that came. */
final class ForwardedFields {

  private static final String PSEUDONYM = "idempotency-gateway";

  /** What only the gateway may set, and framing, which the edge makes anew. */
  private static final Set<String> REPLACED =
      Set.of(
          "idempotency-attempt",
          "idempotency-probe",
          "idempotency-key-derived",
          "forwarded",
          "x-forwarded-for",
          "x-forwarded-host",
          "x-forwarded-proto",
          "x-forwarded-port",
          "content-length",
          "expect",
          "via");

  private static final Pattern SCHEME = Pattern.compile("https?");
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._~%!$&'()*+;=:\\[\\]-]{1,255}");
  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");

  private final ForwardedChain chain;

  /**
   * @param trustedProxies whose {@code Forwarded} and {@code X-Forwarded-*} are believed
   */
  ForwardedFields(AddressRanges trustedProxies) {
    this.chain = new ForwardedChain(trustedProxies);
  }

  /**
   * The head to send.
   *
   * @param attempt the attempt's number, or 0 for a request without a key
   */
  RequestHead of(RequestHead head, Peer peer, long attempt) {
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
    if (received.containsToken("te", "trailers")) {
      // All that is left of TE between two intermediaries (RFC 9110 §10.1.4).
      sent.add("TE", "trailers");
    }
    if (peer.trusted()) {
      continueForwarded(received, sent, peer);
    } else {
      beginForwarded(received, sent, peer);
    }
    sent.add("Via", via(received.all("via"), peer));
    if (attempt > 0) {
      sent.add("Idempotency-Attempt", Long.toString(attempt));
    }
    return head.withHeaders(sent);
  }

  /** Nobody before the peer is believed: the fields say what the gateway sees itself. */
  private static void beginForwarded(Headers received, Headers sent, Peer peer) {
    String host = quotable(received.get("host"));
    sent.add("X-Forwarded-For", peer.address());
    sent.add("X-Forwarded-Proto", peer.scheme());
    if (host != null) {
      sent.add("X-Forwarded-Host", host);
    }
    sent.add("Forwarded", element(peer.address(), peer.scheme(), host));
  }

  /** The peer is a trusted proxy: what it says of the client is kept, and the peer added. */
  private void continueForwarded(Headers received, Headers sent, Peer peer) {
    List<String> addresses = chain.believedAddresses(received.all("x-forwarded-for"));
    List<String> elements = chain.believedElements(received.all("forwarded"));
    if (addresses.isEmpty()) {
      addresses = elements.stream().map(ForwardedFields::clientOf).toList();
    } else if (elements.isEmpty()) {
      elements = addresses.stream().map(address -> "for=" + node(address)).toList();
    }
    String scheme = one(received, "x-forwarded-proto", SCHEME);
    String host = one(received, "x-forwarded-host", HOST);
    String port = one(received, "x-forwarded-port", PORT);
    String ownHost = quotable(received.get("host"));
    sent.add("X-Forwarded-For", joined(addresses, peer.address()));
    sent.add("X-Forwarded-Proto", scheme == null ? peer.scheme() : scheme);
    String outerHost = host == null ? ownHost : host;
    if (outerHost != null) {
      sent.add("X-Forwarded-Host", outerHost);
    }
    if (port != null) {
      sent.add("X-Forwarded-Port", port);
    }
    sent.add("Forwarded", joined(elements, element(peer.address(), peer.scheme(), ownHost)));
  }

  private static String clientOf(String element) {
    String client = ForwardedChain.clientOf(element);
    return client == null ? "unknown" : client;
  }

  private static String joined(List<String> believed, String own) {
    List<String> all = new ArrayList<>(believed);
    all.add(own);
    return String.join(", ", all);
  }

  /** The field's value where it is one of that form; a list says nothing for sure. */
  private static @Nullable String one(Headers received, String name, Pattern form) {
    List<String> values = received.all(name);
    return values.size() == 1 && form.matcher(values.get(0)).matches() ? values.get(0) : null;
  }

  /** An element of {@code Forwarded} (RFC 7239 §4). */
  private static String element(String address, String scheme, @Nullable String host) {
    String element = "for=" + node(address) + ";proto=" + scheme;
    return host == null ? element : element + ";host=\"" + host + '"';
  }

  /** An IPv6 address is in brackets and quoted (RFC 7239 §6). */
  private static String node(String address) {
    return address.indexOf(':') >= 0 ? "\"[" + address + "]\"" : address;
  }

  private static @Nullable String quotable(@Nullable String host) {
    return host != null && host.indexOf('"') < 0 && host.indexOf('\\') < 0 ? host : null;
  }

  private static String via(List<String> received, Peer peer) {
    String own = peer.protocol() + ' ' + PSEUDONYM;
    return received.isEmpty() ? own : String.join(", ", received) + ", " + own;
  }

  /**
   * Removes fields in all spellings of their names.
   *
   * @param names in small letters
   */
  static void remove(Headers fields, Set<String> names) {
    fields.removeIf((name, value) -> hasInAnySpelling(names, canonical(name)));
  }

  private static boolean hasInAnySpelling(Set<String> names, String canonical) {
    if (names.contains(canonical)) {
      return true;
    }
    for (String name : names) {
      if (name.indexOf('_') >= 0 && name.replace('_', '-').equals(canonical)) {
        return true;
      }
    }
    return false;
  }

  private static String canonical(String name) {
    return name.toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Gateways of applications (CGI, WSGI) take an underscore for a hyphen, and so it is here. */
  private static boolean isReplaced(String name) {
    return switch (name.length()) {
      case 3, 6, 9, 14, 15, 16, 17, 19, 23 -> REPLACED.contains(canonical(name));
      default -> false;
    };
  }
}
