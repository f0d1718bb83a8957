package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Parsed;
import dev.idempotency.gateway.config.SecretSource.Text;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads what is secret: keys of fingerprints and of stored responses, passwords and tokens. */
final class SecretReader {

  private static final String OUTSIDE = "{ env: NAME } or { file: PATH }";

  // None is right: what stands in the file is no secret any more.
  private static final Format<OutsideSecret> NOT_INSIDE =
      Format.<OutsideSecret>text(OUTSIDE, text -> Optional.empty()).asHidden();

  /** What a field may hold without a doubt (RFC 9110 §5.5). */
  private static final Pattern FIELD = Pattern.compile("[!-~](?:[ -~]*[!-~])?");

  private final SecretSource secrets;
  private final Problems problems;

  SecretReader(SecretSource secrets, Problems problems) {
    this.secrets = secrets;
    this.problems = problems;
  }

  /** The secrets of fingerprints: the one of secret, or all of secrets. */
  List<Secret> fingerprints(Section file) {
    Optional<Secret> one = file.one("secret", Formats.SECRET, this::secret);
    List<Secret> several = file.several("secrets", Formats.SECRET, this::secret);
    if (file.has("secret") && file.has("secrets")) {
      problems.add("secrets", "given beside secret", "one of secret and secrets");
    }
    for (int i = 0; i < several.size(); i++) {
      int first = several.indexOf(several.get(i));
      if (first < i) {
        problems.add("secrets", "two that are the same", "each secret once");
        break;
      }
    }
    return one.map(List::of).orElse(several);
  }

  private Optional<Secret> secret(Section section) {
    try (section) {
      Optional<Text> text = secrets.text(section, Formats.SECRET.expected(), problems);
      Optional<Secret> secret = text.flatMap(found -> secret(found.value()));
      if (text.isPresent() && secret.isEmpty()) {
        problems.add(
            text.get().place(),
            text.get().what() + " is too short",
            Secret.MIN_LENGTH + " characters or more");
      }
      return secret;
    }
  }

  private static Optional<Secret> secret(String text) {
    return Formats.SECRET.parser().apply(text) instanceof Parsed.Good<Secret> good
        ? Optional.of(good.value())
        : Optional.empty();
  }

  /** A secret that must not stand in the file; null where there is none, or it is wrong. */
  @Nullable OutsideSecret outside(Section section, String key, int minLength) {
    return section.one(key, NOT_INSIDE, inner -> outside(inner, minLength)).orElse(null);
  }

  /** The value of a header field, under one of the keys of a section that names fields. */
  @Nullable OutsideSecret fieldValue(Section section, String name) {
    if (section.isScalar(name)) {
      problems.add(section.path(name), Secret.MASK, OUTSIDE);
      return null;
    }
    return outside(section.entry(name), 1)
        .filter(value -> isField(section, name, value))
        .orElse(null);
  }

  private boolean isField(Section section, String name, OutsideSecret secret) {
    boolean fits = FIELD.matcher(secret.value()).matches();
    if (!fits) {
      problems.add(section.path(name), "the value of " + secret, "visible ASCII and blanks");
    }
    return fits;
  }

  private Optional<OutsideSecret> outside(Section section, int minLength) {
    try (section) {
      Optional<Text> text = secrets.text(section, OUTSIDE, problems);
      if (text.isPresent() && text.get().value().length() < minLength) {
        problems.add(
            text.get().place(),
            text.get().what() + (minLength == 1 ? " is empty" : " is too short"),
            minLength + (minLength == 1 ? " character or more" : " characters or more"));
        return Optional.empty();
      }
      return text.map(
          found ->
              new OutsideSecret(
                  section.find("env", Formats.ENVIRONMENT_NAME).orElse(null),
                  found.file(),
                  found.value()));
    }
  }

  /** The keys of stored responses, none where the store has no encryption. */
  List<Envelope.Key> encryption(Section store) {
    List<Envelope.Key> keys = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    try (Section encryption = store.section("encryption")) {
      String example = "a list of at least one key such as { id: k1, env: RECORDS_KEY }";
      if (store.has("encryption") && encryption.isMapping() && !encryption.has("keys")) {
        problems.add(encryption.path("keys"), "missing", example);
      }
      for (Section section : encryption.sections("keys", example)) {
        key(section, ids).ifPresent(keys::add);
      }
    }
    return keys;
  }

  private Optional<Envelope.Key> key(Section section, Set<String> ids) {
    try (section) {
      String id = section.require("id", Formats.KEY_ID, "");
      String expected = "env or file beside its id";
      Optional<Text> text = secrets.text(section, expected, problems);
      if (!id.isEmpty() && !ids.add(id)) {
        problems.add(section.path("id"), id, "an id that no other key has");
      }
      return text.filter(found -> isKey(found, id))
          .map(
              found ->
                  new Envelope.Key(
                      id,
                      section.find("env", Formats.ENVIRONMENT_NAME).orElse(null),
                      found.file(),
                      new Secret(found.value().strip())));
    }
  }

  private boolean isKey(Text text, String id) {
    String found;
    try {
      int bytes = Base64.getDecoder().decode(text.value().strip()).length;
      found = bytes == Envelope.KEY_BYTES ? "" : "has " + bytes + " bytes";
    } catch (IllegalArgumentException e) {
      found = "is not base64";
    }
    if (!found.isEmpty()) {
      problems.add(
          text.place(),
          text.what() + ", key " + id + ", " + found,
          Envelope.KEY_BYTES + " bytes in base64, as openssl rand -base64 32 makes them");
    }
    return found.isEmpty();
  }
}
