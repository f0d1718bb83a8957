package dev.idempotency.gateway.exchange;

/**
 * Who is at the other end of the client's connection.
 *
 * @param address the address in text form, an IPv6 one without brackets
 * @param scheme "http" or "https"
 * @param protocol the version that the request came in, such as "1.1" (RFC 9110 §7.6.3)
 */
public record Peer(String address, String scheme, String protocol) {}
