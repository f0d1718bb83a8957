package dev.idempotency.gateway.server;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * One address that clients connect to.
 *
 * @param address where to listen; port 0 lets the system choose
 * @param tls how TLS is spoken; null for a clear listener
 * @param http2 whether HTTP/2 is spoken: chosen by ALPN under TLS, by prior knowledge without
 */
public record ListenerOptions(InetSocketAddress address, @Nullable TlsOptions tls, boolean http2) {}
