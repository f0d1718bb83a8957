package dev.idempotency.gateway.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the file refers to: where secrets come from that are not in the file itself, and other
 * files.
 *
 * @param environment the variables of the environment
 * @param folder what a relative path starts from: the folder of the configuration file
 */
record SecretSource(Map<String, String> environment, Path folder) {

  private static final int MAX_BYTES = 4096;

  /**
   * A text that is not in the configuration file itself.
   *
   * @param place where the configuration file refers to it
   * @param what what it is, for messages, which never show the text
   * @param file where it was found; null where it is of the environment
   */
  record Text(String place, String what, String value, @Nullable Path file) {

    /** Without the text. */
    @Override
    public String toString() {
      return what;
    }
  }

  /**
   * The text that a section's env or file refers to; nothing and a problem where there is none.
   *
   * @param expected what the section should have been, where it has both or neither
   */
  Optional<Text> text(Section section, String expected, Problems problems) {
    Optional<String> variable = section.find("env", Formats.ENVIRONMENT_NAME);
    Optional<String> path = section.find("file", Formats.FILE_PATH);
    if (section.has("env") == section.has("file")) {
      problems.add(section.path(), "a mapping", expected);
      return Optional.empty();
    }
    return variable
        .flatMap(name -> fromEnvironment(section.path("env"), name, problems))
        .or(() -> path.flatMap(name -> fromFile(section.path("file"), name, problems)));
  }

  private Optional<Text> fromEnvironment(String place, String name, Problems problems) {
    String value = environment.get(name);
    if (value == null) {
      problems.add(place, name + " is not set", "a variable that is set");
      return Optional.empty();
    }
    return Optional.of(new Text(place, "the value of " + name, value, null));
  }

  private Optional<Text> fromFile(String place, String name, Problems problems) {
    try {
      Path file = folder.resolve(name).normalize();
      try (var in = Files.newInputStream(file)) {
        String text = new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
        // Editors and echo end a file with a line feed that nobody means.
        return Optional.of(new Text(place, "the content of " + name, text.stripTrailing(), file));
      }
    } catch (IOException | InvalidPathException e) {
      problems.add(place, name + " cannot be read", "a file that can be read");
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
}
