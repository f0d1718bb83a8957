package dev.idempotency.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/** The JSON Schema, the examples and the reader say the same. */
class SchemaTest {

  // The module's folder is the working directory of its tests.
  private static final Path FOLDER = Path.of("..", "config");
  private static final JsonNode SCHEMA = readSchema();
  private static final Schema VALIDATOR =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(SCHEMA);

  /** Every section that a file can be without, as short as can be. */
  private static final String SECTIONS =
      """
      listen: { address: "a:1", tls: { certificate: server.crt, key: server.key, client-ca: ca.crt } }
      upstreams: { a: { url: "http://127.0.0.1:3000", health-check: { path: / } } }
      jwt: { keys: jwks.json }
      routes:
        - name: x
          path: /x
          upstream: a
          key: { header: Idempotency-Key, pattern: uuid7, time-bound: true }
      """;

  @TempDir private static Path folder;

  @BeforeAll
  static void writeFiles() {
    BadFiles.writeReferences(folder);
  }

  static List<Path> examples() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.filter(file -> file.toString().endsWith(".yaml")).sorted().toList();
    }
  }

  @Test
  void everyWayOfUseHasItsExample() throws IOException {
    assertThat(examples())
        .extracting(file -> file.getFileName().toString())
        .contains(
            "sidecar.yaml",
            "gateway.yaml",
            "edge.yaml",
            "identity.yaml",
            "stripe-like.yaml",
            "redis-production.yaml");
  }

  @ParameterizedTest
  @MethodSource("examples")
  void exampleIsAcceptedByReaderAndSchema(Path example) throws IOException {
    String yaml = Files.readString(example);

    assertThat(problems(yaml)).isEmpty();
    assertThat(violations(yaml)).isEmpty();
  }

  @Test
  void fileWithEveryKeyIsAcceptedByTheSchema() {
    assertThat(violations(ConfigurationReaderTest.FULL)).isEmpty();
    assertThat(violations(BadFiles.MINIMAL)).isEmpty();
    assertThat(violations(SECTIONS)).isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("dev.idempotency.gateway.config.BadFiles#all")
  void schemaRefusesWhatItCanSayAndNothingThatTheReaderAccepts(BadFiles.BadFile file) {
    if (file.schema()) {
      assertThat(violations(file.yaml())).isNotEmpty();
    }
    assertThat(problems(file.yaml())).isNotEmpty();
  }

  @Test
  void namesInTheSchemaAreTheKeysThatTheReaderKnows() {
    Problems problems = new Problems();
    // The forms of the store and of listeners have different keys: one file cannot have all.
    read(ConfigurationReaderTest.FULL, problems);
    read(SECTIONS, problems);
    read(BadFiles.MINIMAL + "store: { url: memory }\n", problems);
    read(BadFiles.MINIMAL + "store: { url: \"postgresql://a/b\" }\n", problems);
    read(
        BadFiles.MINIMAL
            + "secret: { file: old.secret }\n"
            + "store: { url: memory, encryption: { keys: [{ id: a, env: RECORDS_KEY }] } }\n",
        problems);
    Set<String> schema = new TreeSet<>();
    walk(SCHEMA, "", (path, ignored) -> schema.add(path));

    assertThat(problems.known()).isEqualTo(schema);
  }

  @Test
  void defaultsInTheSchemaAreThoseOfTheReader() {
    Map<String, String> printed = new TreeMap<>();
    flatten(json(EffectiveYaml.print(read(SECTIONS, new Problems()))), "", printed);
    // What the sections say themselves.
    flatten(json(EffectiveYaml.print(read(BadFiles.MINIMAL, new Problems()))), "", printed);
    Map<String, String> said = new TreeMap<>();
    walk(
        SCHEMA,
        "",
        (path, node) -> {
          if (node.has("default")) {
            // Printed as a list, even if it is one.
            said.put(path.replace("listen.", "listen[]."), node.get("default").asText());
          }
        });
    // Said of the short form; and of the other kind of store.
    assertThat(said.remove("listen")).isEqualTo(printed.get("listen[].address"));
    said.remove("store");
    assertThat(said.remove("store.timeout")).isEqualTo("500ms");
    assertThat(said.remove("store.prefix")).isEqualTo("idem:");
    assertThat(said.remove("store.checks")).isEqualTo("30s");
    assertThat(said.remove("store.pool")).isEqualTo("8");

    assertThat(said).isNotEmpty();
    assertThat(printed).containsAllEntriesOf(said);
  }

  private static SecretSource secrets() {
    return new SecretSource(ConfigurationReaderTest.ENVIRONMENT, folder);
  }

  private static List<String> problems(String yaml) {
    Problems problems = new Problems();
    var unused = new ConfigurationReader(secrets(), problems).read(yaml);
    return problems.lines();
  }

  private static Configuration read(String yaml, Problems problems) {
    return new ConfigurationReader(secrets(), problems).read(yaml).orElseThrow();
  }

  private static List<String> violations(String yaml) {
    return VALIDATOR.validate(json(yaml)).stream().map(Object::toString).toList();
  }

  private static JsonNode readSchema() {
    try {
      return new ObjectMapper().readTree(FOLDER.resolve("schema.json").toFile());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Every named property of a schema, by the pattern of its path. */
  private static void walk(JsonNode schema, String path, BiConsumer<String, JsonNode> visitor) {
    JsonNode target = schema;
    if (schema.has("$ref")) {
      target = SCHEMA.at(schema.get("$ref").asText().substring(1));
    }
    String prefix = path.isEmpty() ? "" : path + '.';
    target
        .path("properties")
        .properties()
        .forEach(
            property -> {
              visitor.accept(prefix + property.getKey(), property.getValue());
              walk(property.getValue(), prefix + property.getKey(), visitor);
            });
    target.path("oneOf").forEach(form -> walk(form, path, visitor));
    if (target.has("items")) {
      walk(target.get("items"), path + "[]", visitor);
    }
    if (target.path("additionalProperties").isObject()) {
      visitor.accept(prefix + '*', target.get("additionalProperties"));
      walk(target.get("additionalProperties"), prefix + '*', visitor);
    }
  }

  private static void flatten(JsonNode node, String path, Map<String, String> leaves) {
    String prefix = path.isEmpty() ? "" : path + '.';
    if (node.isObject()) {
      node.properties()
          .forEach(
              member -> {
                String name = path.equals("upstreams") ? "*" : member.getKey();
                flatten(member.getValue(), prefix + name, leaves);
              });
    } else if (node.isArray()) {
      node.forEach(element -> flatten(element, path + "[]", leaves));
    } else {
      leaves.put(path, node.asText());
    }
  }

  /** YAML as JSON by the core schema of YAML 1.2, as editors see it. */
  private static JsonNode json(String yaml) {
    return YamlTree.read(yaml, new Problems())
        .map(SchemaTest::json)
        .orElse(JsonNodeFactory.instance.nullNode());
  }

  private static JsonNode json(Node node) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    if (node instanceof MappingNode mapping) {
      ObjectNode object = nodes.objectNode();
      mapping
          .getValue()
          .forEach(
              entry -> {
                if (entry.getKeyNode() instanceof ScalarNode key) {
                  object.set(key.getValue(), json(entry.getValueNode()));
                }
              });
      return object;
    }
    if (node instanceof SequenceNode sequence) {
      var array = nodes.arrayNode();
      sequence.getValue().forEach(element -> array.add(json(element)));
      return array;
    }
    ScalarNode scalar = (ScalarNode) node;
    return switch (YamlTree.kindOf(scalar)) {
      case TEXT -> nodes.textNode(scalar.getValue());
      case INTEGER -> nodes.numberNode(Long.parseLong(scalar.getValue()));
      case TRUTH -> nodes.booleanNode(Boolean.parseBoolean(scalar.getValue()));
      case NOTHING -> nodes.nullNode();
    };
  }
}
