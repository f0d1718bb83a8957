package dev.idempotency.loadtest;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;

/** A gateway whose Redis scripts lack a guard. */
final class BrokenGateway {

  private static final String SCRIPTS = "dev/idempotency/gateway/store/redis/";

  private BrokenGateway() {}

  /**
   * Its class path.
   *
   * @param folder where the broken script is put, in front of the one in the jar
   * @param script its name
   * @param guard what is taken out of it
   * @param instead what is put in its place
   */
  static String without(Path folder, String script, String guard, String instead)
      throws IOException {
    Path broken = folder.resolve(SCRIPTS + script);
    Files.createDirectories(broken.getParent());
    String whole = read(SCRIPTS + script);
    if (!whole.contains(guard)) {
      throw new IllegalStateException(script + " has no " + guard);
    }
    Files.writeString(broken, whole.replace(guard, instead));
    return folder + File.pathSeparator + Steps.classPath();
  }

  private static String read(String name) throws IOException {
    try (JarFile jar = new JarFile(Steps.jar())) {
      return new String(
          jar.getInputStream(jar.getEntry(name)).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
