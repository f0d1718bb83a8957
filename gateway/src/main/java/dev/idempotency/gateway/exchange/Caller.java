package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who makes a request.
 *
 * @param identity the parts of the identity, in the order of the route's scope; null for one that
 *     is not there
 * @param granted header fields that go upstream in place of the client's own
 */
record Caller(List<@Nullable String> identity, Headers granted) {}
