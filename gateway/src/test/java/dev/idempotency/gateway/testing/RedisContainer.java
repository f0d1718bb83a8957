package dev.idempotency.gateway.testing;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** Redis in a container that lives as long as this JVM. */
final class RedisContainer {

  private static final DockerImageName IMAGE = DockerImageName.parse("redis:7-alpine");

  private RedisContainer() {}

  /** Its URL, or null where the engine cannot run it (no image, no network). */
  @SuppressWarnings("resource") // the engine's reaper removes it when this JVM is gone
  static String start() {
    GenericContainer<?> container = new GenericContainer<>(IMAGE).withExposedPorts(6379);
    try {
      container.start();
      return "redis://" + container.getHost() + ":" + container.getMappedPort(6379);
    } catch (RuntimeException e) {
      container.close();
      return null;
    }
  }
}
