package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How an upstream is asked what became of an operation.
 *
 * @param url a path with <code>{key}</code> and the names of the route's own path in braces, asked
 *     with GET; null where the request itself is sent again with {@code Idempotency-Probe: true},
 *     which only a duplicate can do
 * @param upstream who is asked, on this event loop
 * @param timeout how long the answer may take; 10 ms to 1 min
 * @param completed statuses that mean: done, and this is its response
 * @param never statuses that mean: it never happened
 * @param rerun whether a duplicate is then forwarded at once; otherwise the key is only released
 * @param grace how long an outcome must have been unknown before "never happened" is believed,
 *     since a request may still be on its way
 * @param status what the stored response says instead of the status of the answer; 0: as answered
 * @param headers fields that every question carries, such as a credential of the gateway's own
 * @param backOff the pause after a first probe that told nothing; it doubles
 * @param longest the longest pause
 */
public record ProbeRule(
    @Nullable String url,
    Upstream upstream,
    Duration timeout,
    Set<Integer> completed,
    Set<Integer> never,
    boolean rerun,
    Duration grace,
    int status,
    Headers headers,
    Duration backOff,
    Duration longest) {

  public ProbeRule {
    completed = Set.copyOf(completed);
    never = Set.copyOf(never);
  }

  /** Without the fields, which may be secrets. */
  @Override
  public String toString() {
    return "ProbeRule[" + (url == null ? "the same request" : url) + "]";
  }
}
