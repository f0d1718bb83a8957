package dev.idempotency.loadtest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * The classes of a gateway as the virtual machine has them in memory, in a file beside its jar:
 * processes that are started again and again begin in half the time.
 */
final class ClassArchive {

  private ClassArchive() {}

  private static Path file(Setup setup) {
    Path jar = setup.jar().toAbsolutePath();
    return jar.resolveSibling(jar.getFileName() + ".jsa");
  }

  /** What a virtual machine is told to use it, if it is there and not older than the jar. */
  static List<String> options(Setup setup) throws IOException {
    return isThere(setup) ? List.of("-XX:SharedArchiveFile=" + file(setup)) : List.of();
  }

  private static boolean isThere(Setup setup) throws IOException {
    Path file = file(setup);
    return Files.exists(file)
        && Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(setup.jar())) >= 0;
  }

  /** Whether it has to be made, and can be. */
  static boolean isMissing(Setup setup) throws IOException {
    return Files.isRegularFile(setup.jar())
        && Files.isWritable(setup.jar().toAbsolutePath().getParent())
        && !isThere(setup);
  }

  /** Puts one that was made in its place; another may have been faster. */
  static void put(Setup setup, Path made) throws IOException {
    if (Files.exists(made)) {
      Path unused = Files.move(made, file(setup), StandardCopyOption.REPLACE_EXISTING);
    }
  }
}
