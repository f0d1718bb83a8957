package dev.idempotency.gateway.deploy;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Reads the files for running the product, and knows what the product says of itself. */
final class Deployment {

  static final Path FOLDER = Path.of("..", "deploy");

  static final int PUBLIC_PORT = 8080;
  static final int ADMIN_PORT = 9090;
  static final int DRAIN_SECONDS = 25;

  /** What is left to do behind the drain: write what is unknown, and end. */
  static final int ENDING_SECONDS = 5;

  static final String JAR = "/opt/idempotency-gateway/idempotency-gateway.jar";
  static final Set<String> VARIABLES =
      Set.of(
          "GATEWAY_CONFIG",
          "GATEWAY_UPSTREAM",
          "GATEWAY_LISTEN",
          "GATEWAY_ADMIN",
          "GATEWAY_STORE",
          "GATEWAY_REQUIRE_KEY");

  private static final ObjectMapper YAML =
      new ObjectMapper(
          YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build());

  private Deployment() {}

  static String text(String file) {
    try {
      return Files.readString(FOLDER.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static JsonNode yaml(String file) {
    return documents(file).get(0);
  }

  /** All documents of a file; a name that stands twice in a mapping is an error. */
  static List<JsonNode> documents(String file) {
    try (var documents = YAML.readerFor(JsonNode.class).<JsonNode>readValues(text(file))) {
      return documents.readAll();
    } catch (IOException e) {
      throw new UncheckedIOException(file, e);
    }
  }
}
