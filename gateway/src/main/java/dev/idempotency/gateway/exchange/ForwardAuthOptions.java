package dev.idempotency.gateway.exchange;

import java.time.Duration;
import java.util.Set;

/**
 * How a service is asked whether a caller may make a request.
 *
 * @param path the path of the sub-request at the service, beginning with "/"
 * @param timeout how long its answer may take; more than zero
 * @param cache how long a yes counts for an equal request; zero where it is asked each time
 * @param open whether requests go on while the service can't be asked
 * @param copied names, in small letters, of the fields of its answer that go upstream in place of
 *     the client's own
 */
public record ForwardAuthOptions(
    String path, Duration timeout, Duration cache, boolean open, Set<String> copied) {

  public ForwardAuthOptions {
    copied = Set.copyOf(copied);
  }
}
