package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.Store;
import java.util.Optional;
import java.util.regex.Pattern;

/** How the place of a store is written. */
final class StoreFormats {

  private static final String EXPECTED =
      "memory, or a URL such as redis://127.0.0.1:6379, redis-sentinel://host1,host2/0#primary,"
          + " redis-cluster://host1:7000,host2:7000 (rediss://, rediss-sentinel://,"
          + " rediss-cluster:// for TLS) or postgresql://user@host:5432/database";

  static final Format<Store> STORE = Format.text(EXPECTED, StoreFormats::store);

  static final Format<String> USER =
      Formats.matching("[^\\s\\p{Cntrl}]{1,128}", "a name of up to 128 characters, no blanks");

  // What is special in a user or a password must be percent-encoded, so that no @ is left in it.
  private static final String OWNER = "(?:[^\\s/?#@]*@)?";
  private static final String PLACE = "(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+])(?::[0-9]{1,5})?";
  private static final String PLACES = PLACE + "(?:," + PLACE + ")*";
  private static final Pattern REDIS =
      Pattern.compile(
          "rediss?://"
              + OWNER
              + PLACE
              + "(?:/[0-9]{0,5})?"
              + "|rediss?-sentinel://"
              + OWNER
              + PLACES
              + "(?:/[0-9]{0,5})?#[^\\s#]+"
              // A Cluster has one database.
              + "|rediss?-cluster://"
              + OWNER
              + PLACES
              + "/?");
  private static final Pattern POSTGRES =
      Pattern.compile("postgresql://" + OWNER + PLACES + "/[^\\s/?#]+(?:\\?[^\\s#]*)?");
  // A parameter is printed by --check, which a password must not be.
  private static final Pattern PASSWORD_PARAMETER =
      Pattern.compile("[?&](?:ssl)?password=", Pattern.CASE_INSENSITIVE);

  private StoreFormats() {}

  private static Optional<Store> store(String text) {
    if (text.equals("memory")) {
      return Optional.of(Defaults.memory());
    }
    if (REDIS.matcher(text).matches()) {
      return Optional.of(Defaults.redis(text));
    }
    return POSTGRES.matcher(text).matches() && !PASSWORD_PARAMETER.matcher(text).find()
        ? Optional.of(Defaults.postgres(text))
        : Optional.empty();
  }
}
