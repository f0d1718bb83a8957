package dev.idempotency.gateway.exchange;

import org.jspecify.annotations.Nullable;

/**
 * Who is at the other end of the client's connection.
 *
 * @param address the address in text form, an IPv6 one without brackets, a mapped IPv4 one as IPv4
 * @param scheme "http" or "https"
 * @param protocol the version that the request came in, such as "1.1" (RFC 9110 §7.6.3)
 * @param trusted whether what this peer says of those before it is believed ({@code Forwarded},
 *     {@code X-Forwarded-*})
 * @param subject the distinguished name (RFC 2253) of the subject of the client's verified
 *     certificate; null where it showed none
 */
public record Peer(
    String address, String scheme, String protocol, boolean trusted, @Nullable String subject) {}
