package dev.idempotency.gateway.fingerprint;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The canonical form by another way: a tree of Jackson's, sorted maps and BigDecimal. */
final class JsonOracle {

  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(JsonCanonicalizer.MAX_DEPTH)
                          .maxNumberLength(Integer.MAX_VALUE)
                          .maxStringLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private JsonOracle() {}

  /** The canonical form, or nothing where the bytes are no unambiguous JSON. */
  static Optional<String> canonical(byte[] json) {
    return canonical(json, pointer -> false);
  }

  /** The same without what these JSON pointers name. */
  static Optional<String> canonical(byte[] json, Set<String> ignored) {
    return canonical(json, ignored::contains);
  }

  private static Optional<String> canonical(byte[] json, Predicate<String> ignored) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(json)).toString();
      JsonNode tree = MAPPER.readTree(text);
      StringBuilder out = new StringBuilder();
      return !tree.isMissingNode() && write(tree, "", ignored, out)
          ? Optional.of(out.toString())
          : Optional.empty();
    } catch (CharacterCodingException | JacksonException e) {
      return Optional.empty();
    }
  }

  /** The same without what these JSON pointers do not lead to, or the others name. */
  static Optional<String> chosen(byte[] json, Set<String> chosen, Set<String> ignored) {
    return canonical(
        json,
        at ->
            ignored.contains(at)
                || chosen.stream()
                    .noneMatch(c -> (c + '/').startsWith(at + '/') || at.startsWith(c + '/')));
  }

  private static boolean write(
      JsonNode node, String pointer, Predicate<String> ignored, StringBuilder out) {
    if (node.isObject()) {
      return writeObject(node, pointer, ignored, out);
    } else if (node.isArray()) {
      return writeArray(node, pointer, ignored, out);
    } else if (node.isTextual()) {
      return writeString(node.textValue(), out);
    } else if (node.isNumber()) {
      writeNumber(node.decimalValue(), out);
    } else {
      out.append(node.asText());
    }
    return true;
  }

  private static boolean writeArray(
      JsonNode node, String pointer, Predicate<String> ignored, StringBuilder out) {
    boolean valid = true;
    String comma = "";
    out.append('[');
    for (int i = 0; i < node.size(); i++) {
      String child = pointer + '/' + i;
      boolean kept = !ignored.test(child);
      StringBuilder target = kept ? out.append(comma) : new StringBuilder();
      valid &= write(node.get(i), child, kept ? ignored : all -> false, target);
      comma = kept ? "," : comma;
    }
    out.append(']');
    return valid;
  }

  private static boolean writeObject(
      JsonNode node, String pointer, Predicate<String> ignored, StringBuilder out) {
    // String's own order is the one of UTF-16 code units.
    TreeMap<String, JsonNode> members = new TreeMap<>();
    node.properties().forEach(member -> members.put(member.getKey(), member.getValue()));
    boolean valid = true;
    String comma = "";
    out.append('{');
    for (var member : members.entrySet()) {
      String child = pointer + '/' + token(member.getKey());
      boolean kept = !ignored.test(child);
      StringBuilder target = kept ? out.append(comma) : new StringBuilder();
      valid &= writeString(member.getKey(), target);
      target.append(':');
      valid &= write(member.getValue(), child, kept ? ignored : all -> false, target);
      comma = kept ? "," : comma;
    }
    out.append('}');
    return valid;
  }

  /** A member's name as RFC 6901 §3 has it. */
  static String token(String name) {
    return name.replace("~", "~0").replace("/", "~1");
  }

  private static boolean writeString(String string, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      int escaped = "\b\t\n\f\r\"\\".indexOf(c);
      if (escaped >= 0) {
        out.append('\\').append("btnfr\"\\".charAt(escaped));
      } else if (c < 0x20) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
    return StandardCharsets.UTF_8.newEncoder().canEncode(string); // no lone surrogates
  }

  static void writeNumber(BigDecimal number, StringBuilder out) {
    if (number.signum() == 0) {
      out.append('0');
      return;
    }
    BigDecimal stripped = number.stripTrailingZeros();
    String digits = stripped.unscaledValue().abs().toString();
    long point = (long) stripped.precision() - stripped.scale();
    out.append(number.signum() < 0 ? "-" : "");
    if (point > -6 && point <= 21) {
      out.append(stripped.abs().toPlainString());
    } else {
      out.append(digits.charAt(0))
          .append(digits.length() > 1 ? "." + digits.substring(1) : "")
          .append(point > 0 ? "e+" : "e")
          .append(point - 1);
    }
  }
}
