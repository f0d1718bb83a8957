package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Configuration.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads where the records are, and how responses are put away there. */
final class StoreReader {

  private static final Format<Integer> COMPRESS =
      Sizes.orNone(1 << 30, "4KiB").map(Math::toIntExact);
  private static final Format<Duration> TIMEOUT = Formats.duration("1ms", "1m", "500ms");
  private static final Format<Duration> CHECKS = Formats.duration("1s", "24h", "30s");

  private final SecretReader secrets;
  private final SecretSource files;
  private final Problems problems;

  StoreReader(SecretReader secrets, SecretSource files, Problems problems) {
    this.secrets = secrets;
    this.files = files;
    this.problems = problems;
  }

  /** Where the records are, and how responses are put away there. */
  record Kept(Store store, Envelope envelope) {}

  Kept read(Section file) {
    if (!file.has("store") || file.isScalar("store")) {
      return new Kept(file.get("store", StoreFormats.STORE, Defaults.memory()), Envelope.NONE);
    }
    try (Section section = file.section("store")) {
      Store store = section.require("url", StoreFormats.STORE, Defaults.memory());
      return new Kept(
          tuned(section, store),
          new Envelope(
              section.get("compress", COMPRESS, Envelope.NONE.compressFrom()),
              secrets.encryption(section)));
    }
  }

  private Store tuned(Section section, Store store) {
    if (store instanceof Store.Redis redis) {
      return redis(section, redis);
    }
    return store instanceof Store.Postgres postgres
        ? postgres(section, postgres)
        : memory(section, Defaults.memory());
  }

  private Store redis(Section section, Store.Redis defaults) {
    String user = user(section, "user", "password", defaults.url());
    OutsideSecret password = password(section, "password", defaults.url());
    boolean sentinel = defaults.kind() == Store.Redis.Kind.SENTINEL;
    return new Store.Redis(
        defaults.url(),
        section.get("timeout", TIMEOUT, defaults.timeout()),
        section.get("prefix", Formats.PREFIX, defaults.prefix()),
        section.get("checks", CHECKS, defaults.checks()),
        new StoreAccess(
            user,
            password,
            sentinel ? user(section, "sentinel-user", "sentinel-password", "") : null,
            sentinel ? password(section, "sentinel-password", "") : null,
            tls(section, defaults)));
  }

  private Store postgres(Section section, Store.Postgres defaults) {
    return new Store.Postgres(
        defaults.url(),
        section.get("timeout", TIMEOUT, defaults.timeout()),
        section.get("pool", Formats.integer(1, 1000), defaults.pool()),
        new StoreAccess(
            postgresUser(section, defaults.url()),
            password(section, "password", defaults.url()),
            null,
            null,
            null));
  }

  private static Store memory(Section section, Store.Memory defaults) {
    return new Store.Memory(
        section.get("max-bytes", Sizes.between(1, Long.MAX_VALUE, "256MiB"), defaults.maxBytes()));
  }

  /** An ACL's user always has a password here; one that has none needs no name. */
  private @Nullable String user(Section section, String key, String password, String url) {
    Optional<String> user = section.find(key, StoreFormats.USER);
    if (user.isPresent() && hasOwner(url)) {
      problems.add(section.path(key), "given beside a user in the URL", "one of them");
    } else if (user.isPresent() && !section.has(password)) {
      problems.add(section.path(key), "without " + password, password + " beside it");
    }
    return user.orElse(null);
  }

  /** The database may know users without a password. */
  private @Nullable String postgresUser(Section section, String url) {
    Optional<String> user = section.find("user", StoreFormats.USER);
    if (user.isPresent() && hasOwner(url)) {
      problems.add(section.path("user"), "given beside a user in the URL", "one of them");
    }
    return user.orElse(null);
  }

  private @Nullable OutsideSecret password(Section section, String key, String url) {
    OutsideSecret password = secrets.outside(section, key, 1);
    if (password != null && owner(url).contains(":")) {
      problems.add(section.path(key), "given beside a password in the URL", "one of them");
    }
    return password;
  }

  private static boolean hasOwner(String url) {
    return !owner(url).isEmpty();
  }

  /** User and password as the URL has them. */
  private static String owner(String url) {
    int at = url.lastIndexOf('@');
    return at < 0 ? "" : url.substring(url.indexOf("://") + 3, at);
  }

  private StoreAccess.@Nullable Tls tls(Section section, Store.Redis store) {
    try (Section tls = section.section("tls")) {
      Optional<Path> authorities = files.file(tls, "ca", problems);
      Optional<Path> certificate = files.file(tls, "certificate", problems);
      Optional<Path> key = files.file(tls, "key", problems);
      if (tls.has("certificate") != tls.has("key")) {
        String missing = tls.has("key") ? "certificate" : "key";
        problems.add(tls.path(missing), "missing", "certificate and key, or none of them");
      }
      if (!section.has("tls")) {
        return null;
      }
      if (!store.url().startsWith("rediss")) {
        problems.add(
            section.path("tls"),
            "given",
            "none, or a URL with TLS: rediss://, rediss-sentinel:// or rediss-cluster://");
      }
      return new StoreAccess.Tls(
          authorities.orElse(null), certificate.orElse(null), key.orElse(null));
    }
  }
}
