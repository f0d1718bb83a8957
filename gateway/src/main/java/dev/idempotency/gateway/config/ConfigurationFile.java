package dev.idempotency.gateway.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The file on its way from the disk. */
final class ConfigurationFile {

  private static final int MAX_BYTES = 1 << 20;

  /** What came of reading a file. */
  sealed interface Result {
    record Valid(Configuration configuration) implements Result {}

    /**
     * Nothing to start with.
     *
     * @param text the name of the file and everything that is wrong with it, one a line
     */
    record Invalid(String text) implements Result {}
  }

  private ConfigurationFile() {}

  static Result read(String name, Map<String, String> environment) {
    try {
      Path path = Path.of(name).toAbsolutePath();
      if (Files.isDirectory(path)) {
        return unreadable(name, "is a folder");
      }
      byte[] bytes;
      try (InputStream in = Files.newInputStream(path)) {
        bytes = in.readNBytes(MAX_BYTES + 1);
      }
      if (bytes.length > MAX_BYTES) {
        return unreadable(name, "is larger than " + Sizes.print(MAX_BYTES));
      }
      Path folder = path.getParent();
      return parse(
          name, decode(bytes), new SecretSource(environment, folder == null ? path : folder));
    } catch (NoSuchFileException | InvalidPathException e) {
      return unreadable(name, "does not exist");
    } catch (CharacterCodingException e) {
      return unreadable(name, "is not UTF-8");
    } catch (IOException e) {
      return unreadable(name, "cannot be read: " + e.getClass().getSimpleName());
    }
  }

  static Result parse(String name, String yaml, SecretSource secrets) {
    Problems problems = new Problems();
    Optional<Configuration> configuration = new ConfigurationReader(secrets, problems).read(yaml);
    List<String> lines = problems.lines();
    if (lines.isEmpty() && configuration.isPresent()) {
      return new Result.Valid(configuration.get());
    }
    String count = lines.size() == 1 ? "1 problem" : lines.size() + " problems";
    return new Result.Invalid(
        lines.stream().collect(Collectors.joining("\n  ", name + ": " + count + "\n  ", "\n")));
  }

  private static String decode(byte[] bytes) throws CharacterCodingException {
    String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    return text.startsWith("\uFEFF") ? text.substring(1) : text;
  }

  private static Result unreadable(String name, String why) {
    return new Result.Invalid("gateway: the configuration file " + name + " " + why + "\n");
  }
}
