package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Peer;
import org.jspecify.annotations.Nullable;

/**
 * Who is at the other end of a connection, whatever is spoken on it.
 *
 * @param address the address in text form, a mapped IPv4 one as IPv4
 * @param scheme "http" or "https"
 * @param trusted whether it is a trusted proxy
 * @param subject the subject of its verified certificate; null where it showed none
 */
record Caller(String address, String scheme, boolean trusted, @Nullable String subject) {

  /** As exchanges want it for requests of that version. */
  Peer speaking(String protocol) {
    return new Peer(address, scheme, protocol, trusted, subject);
  }
}
