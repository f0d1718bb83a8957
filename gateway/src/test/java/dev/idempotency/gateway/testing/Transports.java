package dev.idempotency.gateway.testing;

import dev.idempotency.gateway.transport.Transport;
import java.util.stream.Stream;

/** The transports that tests of the network run on. */
public final class Transports {

  private Transports() {}

  /** The native one, where there is one here, and NIO. */
  public static Stream<Transport> all() {
    return Stream.of(Transport.best(), Transport.NIO).distinct();
  }
}
