package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.Store;

/** Reads where the records are, and how responses are put away there. */
final class StoreReader {

  private static final Format<Integer> COMPRESS =
      Sizes.orNone(1 << 30, "4KiB").map(Math::toIntExact);

  private final SecretReader secrets;

  StoreReader(SecretReader secrets) {
    this.secrets = secrets;
  }

  /** Where the records are, and how responses are put away there. */
  record Kept(Store store, Envelope envelope) {}

  Kept read(Section file) {
    if (!file.has("store") || file.isScalar("store")) {
      return new Kept(file.get("store", Formats.STORE, Defaults.memory()), Envelope.NONE);
    }
    try (Section section = file.section("store")) {
      Store store = section.require("url", Formats.STORE, Defaults.memory());
      return new Kept(
          store instanceof Store.Redis redis
              ? redis(section, redis)
              : memory(section, Defaults.memory()),
          new Envelope(
              section.get("compress", COMPRESS, Envelope.NONE.compressFrom()),
              secrets.encryption(section)));
    }
  }

  private static Store redis(Section section, Store.Redis defaults) {
    return new Store.Redis(
        defaults.url(),
        section.get("timeout", Formats.duration("1ms", "1m", "500ms"), defaults.timeout()),
        section.get("prefix", Formats.PREFIX, defaults.prefix()));
  }

  private static Store memory(Section section, Store.Memory defaults) {
    return new Store.Memory(
        section.get("max-bytes", Sizes.between(1, Long.MAX_VALUE, "256MiB"), defaults.maxBytes()));
  }
}
