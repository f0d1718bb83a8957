package dev.idempotency.gateway.config;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads how callers' tokens are verified. */
final class TokenReader {

  private static final Format<Duration> LEEWAY = Formats.duration("0s", "5m", "30s");
  private static final Format<Duration> REFRESH = Formats.duration("1s", "24h", "10m");
  private static final Tokens DEFAULTS = Defaults.TOKENS;

  private final SecretSource files;
  private final Problems problems;

  TokenReader(SecretSource files, Problems problems) {
    this.files = files;
    this.problems = problems;
  }

  @Nullable Tokens read(Section file) {
    try (Section jwt = file.section("jwt")) {
      if (!file.has("jwt")) {
        return null;
      }
      URI keys = keys(jwt);
      return new Tokens(
          keys,
          jwt.find("issuer", IdentityFormats.WORD).orElse(DEFAULTS.issuer()),
          distinct(jwt.list("audience", IdentityFormats.WORD)).orElse(DEFAULTS.audience()),
          distinct(jwt.list("algorithms", IdentityFormats.ALGORITHM)).orElse(DEFAULTS.algorithms()),
          jwt.get("leeway", LEEWAY, DEFAULTS.leeway()),
          jwt.get("refresh", REFRESH, DEFAULTS.refresh()),
          authorities(jwt, keys));
    }
  }

  private static Optional<List<String>> distinct(Optional<List<String>> words) {
    return words.map(list -> list.stream().distinct().toList());
  }

  /** Of a URL, or of the file that a path names. */
  private URI keys(Section jwt) {
    String text = jwt.require("keys", IdentityFormats.KEY_SET, "");
    if (text.isEmpty()) {
      return DEFAULTS.keys();
    }
    return IdentityFormats.isUrl(text)
        ? URI.create(text)
        : files.file(jwt, "keys", problems).map(Path::toUri).orElse(DEFAULTS.keys());
  }

  private @Nullable Path authorities(Section jwt, URI keys) {
    Optional<Path> authorities = files.file(jwt, "ca", problems);
    // Where the keys are wrong, nothing can be said of them.
    if (jwt.has("ca") && !keys.equals(DEFAULTS.keys()) && !"https".equals(keys.getScheme())) {
      problems.add(jwt.path("ca"), "given", "none, as the keys do not come by https");
    }
    return authorities.orElse(null);
  }
}
