package dev.idempotency.gateway.server;

/**
 * What HTTP/2 clients are allowed (RFC 9113 §6.5.2, §10.5).
 *
 * @param streams most exchanges at once on one connection
 * @param streamWindow bytes of a request's body that may come before they are taken, 64 KiB or more
 * @param resets most streams that a client may reset within 30 s before its connection ends
 */
public record Http2Options(int streams, int streamWindow, int resets) {}
