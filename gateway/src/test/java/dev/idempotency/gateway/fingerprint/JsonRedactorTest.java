package dev.idempotency.gateway.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.idempotency.gateway.http.Headers;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the pointers name is taken out, and nothing else; in doubt there is no body at all. */
class JsonRedactorTest {

  private static final Headers JSON = Headers.of("Content-Type", "application/json");

  private static JsonRedactor redactor(String... pointers) {
    return JsonRedactor.of(List.of(pointers));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String redacted(String body, String... pointers) {
    byte[] bytes = redactor(pointers).redact(JSON, utf8(body));
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/card | {\"card\":\"4111\"} | {\"card\":\"[redacted]\"}",
        "/card | { \"card\" : \"4111\" , \"a\":1 } | { \"card\" : \"[redacted]\" , \"a\":1 }",
        "/card | {\"card\":4111} | {\"card\":\"[redacted]\"}",
        "/card | {\"card\": -41.5e3 } | {\"card\": \"[redacted]\" }",
        "/card | {\"card\":null,\"x\":true} | {\"card\":\"[redacted]\",\"x\":true}",
        "/card | {\"x\":1,\"card\":false} | {\"x\":1,\"card\":\"[redacted]\"}",
        "/card | {\"card\":{\"a\":[{\"card\":1}]},\"b\":2} | {\"card\":\"[redacted]\",\"b\":2}",
        "/card | {\"card\":[1,[2]] ,\"b\":2} | {\"card\":\"[redacted]\" ,\"b\":2}",
        "/card | {\"c\\u0061rd\":\"4111\"} | {\"c\\u0061rd\":\"[redacted]\"}",
        "/card | {\"card\":\"4\\\"1\",\"b\":\"\\\\\"} | {\"card\":\"[redacted]\",\"b\":\"\\\\\"}",
        "/card | {\"a\":{\"card\":1}} | {\"a\":{\"card\":1}}",
        "/card/no | {\"card\":{\"no\":1,\"of\":2}} | {\"card\":{\"no\":\"[redacted]\",\"of\":2}}",
        "/card/no | {\"card\":\"no\"} | {\"card\":\"no\"}",
        "/a~1b | {\"a/b\":1,\"a~1b\":2} | {\"a/b\":\"[redacted]\",\"a~1b\":2}",
        "/a~0b | {\"a~b\":1} | {\"a~b\":\"[redacted]\"}",
        "/a~01 | {\"a~1\":1,\"a/\":2} | {\"a~1\":\"[redacted]\",\"a/\":2}",
        "/ | {\"\":1,\"a\":2} | {\"\":\"[redacted]\",\"a\":2}",
        "/1 | [1, 22 ,3] | [1, \"[redacted]\" ,3]",
        "/2 | [1,2,[3]] | [1,2,\"[redacted]\"]",
        "/01 | [1,2,3] | [1,2,3]",
        "/- | [1,2,3] | [1,2,3]",
        "/1 | {\"1\":\"x\"} | {\"1\":\"[redacted]\"}",
        "/i/*/c | {\"i\":[{\"c\":1},{\"d\":2},{\"c\":3}]}"
            + " | {\"i\":[{\"c\":\"[redacted]\"},{\"d\":2},{\"c\":\"[redacted]\"}]}",
        "/*/c | {\"a\":{\"c\":1},\"b\":[{\"c\":2}]} | {\"a\":{\"c\":\"[redacted]\"},\"b\":[{\"c\":2}]}",
        "/c | {\"c\":1,\"x\":0,\"c\":2} | {\"c\":\"[redacted]\",\"x\":0,\"c\":\"[redacted]\"}",
        "/c/d | {\"c\":1,\"c\":{\"d\":2}} | {\"c\":1,\"c\":{\"d\":\"[redacted]\"}}",
      })
  void valueAtThePointerIsReplacedAndEveryOtherByteStays(
      String pointer, String body, String expected) {
    assertThat(redacted(body, pointer)).isEqualTo(expected);
  }

  @Test
  void severalPointersAreFollowedAtOnce() {
    assertThat(
            redacted(
                "{\"a\":{\"b\":1,\"c\":2,\"e\":3},\"d\":[4,5]}", "/a/b", "/a/*/x", "/d/1", "/a/c"))
        .isEqualTo(
            "{\"a\":{\"b\":\"[redacted]\",\"c\":\"[redacted]\",\"e\":3},"
                + "\"d\":[4,\"[redacted]\"]}");
    assertThat(redacted("{\"a\":{\"b\":1},\"c\":2}", "/a/b", "/a"))
        .isEqualTo("{\"a\":\"[redacted]\",\"c\":2}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"a\":1}", "[]", "{}", "1", "\"card\"", " null ", "[{\"b\":[1,2]}]"})
  void bodyWithoutSuchAValueIsTheSame(String body) {
    byte[] bytes = utf8(body);
    assertThat(redactor("/card", "/0/c").redact(JSON, bytes)).isSameAs(bytes);
  }

  @Test
  void emptyBodyHasNothingToTakeOut() {
    byte[] empty = {};
    assertThat(redactor("/card").redact(new Headers(), empty)).isSameAs(empty);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"card\":\"4111\"",
        "{\"card\":\"4111\"} x",
        "{\"card\":\"4111\"}{\"card\":\"4112\"}",
        "{\"card\":\"4111\"}\n1",
        "{\"card\":4111,}",
        "{'card':4111}",
        "{card:4111}",
        "{\"card\":04111}",
        "{\"card\":NaN}",
        "// comment\n{\"card\":4111}",
        "\ufeff{\"card\":4111}",
        "{\"card\":\"41\u000011\"}",
        "<card>4111</card>",
        "   "
      })
  void bodyThatIsNoJsonIsNotRedactedAtAll(String body) {
    assertThat(redacted(body, "/card")).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/html",
        "text/plain",
        "application/json; charset=utf-16",
        "application/json; charset=iso-8859-1",
        "application/octet-stream",
        "json"
      })
  void bodyOfAnotherMediaTypeIsNotRedactedAtAll(String type) {
    byte[] body = utf8("{\"card\":1}");
    assertThat(redactor("/card").redact(Headers.of("Content-Type", type), body)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"application/json", "application/JSON; charset=UTF-8", "application/vnd.a+json"})
  void jsonIsKnownByItsMediaType(String type) {
    byte[] body = utf8("{\"card\":1}");
    assertThat(redactor("/card").redact(Headers.of("Content-Type", type), body))
        .asString()
        .contains("[redacted]");
  }

  @Test
  void bodyWithoutOrWithTwoMediaTypesIsNotRedactedAtAll() {
    byte[] body = utf8("{\"card\":1}");
    assertThat(redactor("/card").redact(new Headers(), body)).isNull();
    Headers two = Headers.of("Content-Type", "application/json", "content-type", "text/html");
    assertThat(redactor("/card").redact(two, body)).isNull();
  }

  @Test
  void codedBodyIsNotRedactedAtAll() {
    Headers coded = Headers.of("Content-Type", "application/json", "Content-Encoding", "br");
    assertThat(redactor("/card").redact(coded, utf8("{\"card\":1}"))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE"})
  void bodyInAnotherEncodingIsNotRedactedAtAll(String charset) {
    byte[] body = "{\"card\":1}".getBytes(Charset.forName(charset));
    assertThat(redactor("/card").redact(JSON, body)).isNull();
  }

  @Test
  void tooDeepBodyIsNotRedactedAtAll() {
    int deepest = JsonRedactor.MAX_DEPTH - 1;
    String fits = "{\"card\":1,\"x\":" + "[".repeat(deepest) + "]".repeat(deepest) + "}";
    assertThat(redacted(fits, "/card")).contains("[redacted]");
    String tooDeep = "{\"card\":1,\"x\":" + "[".repeat(deepest + 1) + "]".repeat(deepest + 1) + "}";
    assertThat(redacted(tooDeep, "/card")).isNull();
    assertThat(redacted("{\"card\":" + "[".repeat(100_000), "/card")).isNull();
  }

  @Test
  void longNumbersStringsAndNamesAreRead() {
    String digits = "7".repeat(200_000);
    String body = "{\"" + digits + "\":" + digits + ",\"s\":\"" + digits + "\",\"card\":";
    assertThat(redacted(body + digits + "}", "/card")).isEqualTo(body + "\"[redacted]\"}");
  }

  @Test
  void emptyListIsNoRedactor() {
    assertThat(JsonRedactor.of(List.of())).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "card", "/a~", "/a~2"})
  void badPointerIsRefused(String pointer) {
    assertThatThrownBy(() -> redactor(pointer))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pointer \"" + pointer + "\"");
  }

  @Test
  void describesItsPointers() {
    assertThat(redactor("/card/number", "/iban").described()).isEqualTo("/card/number, /iban");
  }

  @Test
  void randomDocumentsAreTheSameAsATreeWithItsValuesReplaced() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    ObjectMapper mapper = new ObjectMapper();
    int replaced = 0;
    for (int i = 0; i < 3_000; i++) {
      JsonNode tree = document(random, 4);
      String spelled =
          random.nextBoolean()
              ? mapper.writeValueAsString(tree)
              : mapper.writerWithDefaultPrettyPrinter().writeValueAsString(tree);
      List<String> path = new ArrayList<>();
      for (int j = random.nextInt(3); j >= 0; j--) {
        path.add(List.of("a", "b", "\u00e9", "0", "1", "*").get(random.nextInt(6)));
      }
      String result = redacted(spelled, "/" + String.join("/", path));
      JsonNode expected = without(tree, path);
      assertThat(mapper.readTree(result))
          .as("seed %s, number %s: %s at %s", seed, i, spelled, path)
          .isEqualTo(mapper.readTree(mapper.writeValueAsString(expected)));
      replaced += result.equals(spelled) ? 0 : 1;
    }
    assertThat(replaced).as("seed %s", seed).isGreaterThan(100);
  }

  private static JsonNode document(Random random, int depth) {
    ObjectMapper mapper = new ObjectMapper();
    switch (random.nextInt(depth > 0 ? 6 : 3)) {
      case 0 -> {
        return TextNode.valueOf("t\u00e9\"\\" + random.nextInt());
      }
      case 1 -> {
        return mapper.getNodeFactory().numberNode(random.nextInt());
      }
      case 2 -> {
        return mapper.getNodeFactory().booleanNode(random.nextBoolean());
      }
      case 3 -> {
        ArrayNode array = mapper.createArrayNode();
        for (int i = random.nextInt(4); i > 0; i--) {
          array.add(document(random, depth - 1));
        }
        return array;
      }
      default -> {
        ObjectNode object = mapper.createObjectNode();
        for (String name : List.of("a", "b", "\u00e9", "0")) {
          if (random.nextBoolean()) {
            object.set(name, document(random, depth - 1));
          }
        }
        return object;
      }
    }
  }

  private static JsonNode without(JsonNode node, List<String> path) {
    if (path.isEmpty()) {
      return TextNode.valueOf("[redacted]");
    }
    String token = path.get(0);
    List<String> rest = path.subList(1, path.size());
    if (node instanceof ObjectNode object) {
      List<String> names = new ArrayList<>();
      object.fieldNames().forEachRemaining(names::add);
      names.stream()
          .filter(name -> token.equals("*") || token.equals(name))
          .forEach(name -> object.set(name, without(object.get(name), rest)));
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        if (token.equals("*") || token.equals(Integer.toString(i))) {
          array.set(i, without(array.get(i), rest));
        }
      }
    }
    return node;
  }
}
