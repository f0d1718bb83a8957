package dev.idempotency.gateway.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;

/** Whether containers can be started here; quick to say no, and silent. */
final class ContainerEngine {

  private static final long LIMIT_SECONDS = 2;

  private ContainerEngine() {}

  static boolean answers() {
    return isLikely() && asked();
  }

  /** Without one of these there is no engine, and its library need not even be loaded. */
  private static boolean isLikely() {
    String home = System.getProperty("user.home");
    String runtime = System.getenv("XDG_RUNTIME_DIR");
    return System.getenv("DOCKER_HOST") != null
        || Stream.of(
                "/var/run/docker.sock",
                home + "/.docker/run/docker.sock",
                runtime == null ? "/" : runtime + "/docker.sock")
            .anyMatch(socket -> socket.endsWith(".sock") && Files.exists(Path.of(socket)));
  }

  /** An engine that accepts and never answers would hold the question for ever. */
  private static boolean asked() {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                answer.complete(DockerClientFactory.instance().isDockerAvailable());
              } catch (RuntimeException | LinkageError e) {
                answer.complete(false);
              }
            },
            "container-engine");
    thread.setDaemon(true);
    thread.start();
    try {
      return answer.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
