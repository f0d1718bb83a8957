package dev.idempotency.gateway.config;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * How a service is asked whether a caller may make a request.
 *
 * @param upstream the name of one of the upstreams
 * @param path what is asked for there
 * @param timeout how long the answer may take; 1 ms to 1 min
 * @param cache how long a yes counts for an equal request; 0 to 1 h, 0: each request is asked for
 * @param onFailure what is done while the service can't be asked or is broken (5xx); any other
 *     answer that is neither yes nor no refuses the request
 * @param copy names, in small letters, of the fields of its answer that go upstream in place of the
 *     client's own
 */
public record ForwardAuth(
    String upstream,
    String path,
    Duration timeout,
    Duration cache,
    OnFailure onFailure,
    Set<String> copy) {

  public ForwardAuth {
    copy = Collections.unmodifiableSet(new LinkedHashSet<>(copy));
  }

  /** What is done while the service can't be asked. */
  public enum OnFailure {
    REJECT,
    ALLOW
  }
}
