package dev.idempotency.gateway.identity;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

/** A key set in a file, which is read on a thread that may wait. */
final class KeySetFile implements KeySetSource {

  private final Path file;
  private final Executor reader;

  KeySetFile(Path file, Executor reader) {
    this.file = file;
    this.reader = reader;
  }

  @Override
  public CompletableFuture<byte[]> fetch() {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return read();
          } catch (IOException e) {
            throw new CompletionException(e);
          }
        },
        reader);
  }

  /** Waits for the disk. */
  byte[] read() throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new IOException("it is longer than " + MOST_BYTES + " bytes");
      }
      return bytes;
    } catch (NoSuchFileException e) {
      throw new IOException("there is no such file", e);
    } catch (AccessDeniedException e) {
      throw new IOException("it can't be read", e);
    }
  }

  @Override
  public String place() {
    return file.toString();
  }
}
