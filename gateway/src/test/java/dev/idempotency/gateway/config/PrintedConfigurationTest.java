package dev.idempotency.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code --check} prints says the same as the file, whatever the file says. */
class PrintedConfigurationTest {

  private static final int FILES = 1_000;
  private static final Map<String, String> ENVIRONMENT = ConfigurationReaderTest.ENVIRONMENT;

  @TempDir private Path folder;

  @BeforeEach
  void writeFiles() {
    BadFiles.writeReferences(folder);
  }

  @Test
  void printedFileReadsAsTheSameConfiguration() {
    long seed = Long.getLong("printed.seed", System.nanoTime());
    System.out.println("PrintedConfigurationTest: -Dprinted.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < FILES; i++) {
      assertPrintedIsRead(RandomRoutes.next(random));
    }
  }

  /** A line break that is printed as it is, is read as a blank. */
  @Test
  void lineBreaksAndControlsInNamesArePrintedAsEscapes() {
    assertPrintedIsRead(
        BadFiles.route("key: { pointer: \"/a\\nb\\u0085\\u2028\\u0007\\ud83d\\ude00\\ufeff\" }"));
  }

  private void assertPrintedIsRead(String file) {
    Configuration read = read(file);
    String printed = EffectiveYaml.print(read);
    // What is not printed: a secret, and what may be one.
    String again =
        printed
            .replace("secret: \"***\"", "secret: { env: FINGERPRINT_SECRET }")
            .replace("jwks?***", "jwks?a=b");
    assertThat(read(again)).as("%s\nprinted as\n%s", file, printed).isEqualTo(read);
  }

  private Configuration read(String yaml) {
    Problems problems = new Problems();
    var configuration =
        new ConfigurationReader(new SecretSource(ENVIRONMENT, folder), problems).read(yaml);
    assertThat(problems.lines()).as(yaml).isEmpty();
    return configuration.orElseThrow();
  }
}
