package dev.idempotency.gateway.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;

/** The database of the demo's orders; messages never repeat it, as it may hold a password. */
final class DatabaseUrl {

  static final Format<URI> FORMAT =
      Format.text("postgresql://[user[:password]@]host[:port]/database", DatabaseUrl::parse);

  private DatabaseUrl() {}

  private static Optional<URI> parse(String text) {
    try {
      URI url = new URI(text);
      boolean whole =
          "postgresql".equals(url.getScheme())
              && url.getHost() != null
              && url.getPath() != null
              && url.getPath().length() > 1
              && url.getQuery() == null
              && url.getFragment() == null;
      return whole ? Optional.of(url) : Optional.empty();
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }
}
