package dev.idempotency.gateway.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A secret that does not stand in the configuration file, and where it was found; in one of two
 * places.
 *
 * @param variable the variable of the environment; null where it came from a file
 * @param file the file; null where it came from a variable
 * @param value the secret itself; not empty
 */
public record OutsideSecret(@Nullable String variable, @Nullable Path file, String value) {

  /** Where it is, never what it is. */
  @Override
  public String toString() {
    return file == null ? "env " + variable : "file " + file;
  }
}
