package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Parsed;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * What the file refers to: where secrets come from that are not in the file itself, and other
 * files.
 *
 * @param environment the variables of the environment
 * @param folder what a relative path starts from: the folder of the configuration file
 */
record SecretSource(Map<String, String> environment, Path folder) {

  private static final int MAX_BYTES = 4096;

  Optional<Secret> fromEnvironment(String name, Problems problems) {
    String value = environment.get(name);
    if (value == null) {
      problems.add("secret.env", name + " is not set", "a variable that is set");
      return Optional.empty();
    }
    return secret("secret.env", "the value of " + name, value, problems);
  }

  Optional<Secret> fromFile(String path, Problems problems) {
    try (var in = Files.newInputStream(folder.resolve(path))) {
      String text = new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
      // Editors and echo end a file with a line feed that nobody means.
      return secret("secret.file", "the content of " + path, text.stripTrailing(), problems);
    } catch (IOException | InvalidPathException e) {
      problems.add("secret.file", path + " cannot be read", "a file that can be read");
      return Optional.empty();
    }
  }

  /** The file that a key names, where it is there and can be read; else a problem that says why. */
  Optional<Path> file(Section section, String key, Problems problems) {
    String name = section.find(key, Formats.FILE_PATH).orElse("");
    if (name.isEmpty()) {
      return Optional.empty();
    }
    String fault = "is no path";
    try {
      Path path = folder.resolve(name).normalize();
      fault = fault(path);
      if (fault.isEmpty()) {
        return Optional.of(path);
      }
    } catch (InvalidPathException e) {
      // Said below.
    }
    problems.add(section.path(key), Messages.line(name) + ' ' + fault, "a file that can be read");
    return Optional.empty();
  }

  private static String fault(Path path) {
    if (Files.isDirectory(path)) {
      return "is a folder";
    }
    if (!Files.exists(path)) {
      return "does not exist";
    }
    return Files.isReadable(path) ? "" : "cannot be read";
  }

  private static Optional<Secret> secret(
      String path, String what, String value, Problems problems) {
    if (Formats.SECRET.parser().apply(value) instanceof Parsed.Good<Secret> good) {
      return Optional.of(good.value());
    }
    problems.add(path, what + " is too short", Secret.MIN_LENGTH + " characters or more");
    return Optional.empty();
  }
}
