package dev.idempotency.gateway.fingerprint;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Random values of JSON, as Java's own, and random spellings of them. */
final class RandomJson {

  private static final String[] PIECES = {
    "a",
    "b",
    "z",
    "id",
    "amount",
    "customer_",
    "Z",
    "0",
    "\"",
    "\\",
    "/",
    "\b",
    "\t",
    "\n",
    "\f",
    "\r",
    "\u0000",
    "\u001f",
    " ",
    "\u007f",
    "\u0080",
    "\u00e9",
    "e\u0301",
    "\u07ff",
    "\u0800",
    "\u2028",
    "\ud7ff",
    "\ue000",
    "\ufeff",
    "\uffff",
    "\ud800\udc00",
    "\ud83d\ude00",
    "\udbff\udfff"
  };

  private final Random random;

  RandomJson(Random random) {
    this.random = random;
  }

  Object value(int depth) {
    return switch (random.nextInt(depth > 0 ? 8 : 5)) {
      case 0 -> string();
      case 1, 2 -> number();
      case 3 -> random.nextBoolean();
      case 4 -> random.nextInt(4) == 0 ? List.of() : random.nextInt(3) == 0 ? Map.of() : Null.NULL;
      case 5 -> {
        List<Object> elements = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
          elements.add(value(depth - 1));
        }
        yield elements;
      }
      default -> object(depth);
    };
  }

  Map<String, Object> object(int depth) {
    Map<String, Object> members = new LinkedHashMap<>();
    int count = random.nextInt(20) == 0 ? 40 : 1 + random.nextInt(6);
    for (int i = 0; i < count; i++) {
      members.put(string(), value(depth - 1));
    }
    return members;
  }

  private String string() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(5); i > 0; i--) {
      text.append(PIECES[random.nextInt(PIECES.length)]);
    }
    return text.toString();
  }

  private BigDecimal number() {
    return switch (random.nextInt(4)) {
      case 0 -> BigDecimal.valueOf(random.nextInt(21) - 10);
      case 1 -> BigDecimal.valueOf(random.nextInt(2_000_000), 2);
      case 2 ->
          new BigDecimal(new BigInteger(random.nextInt(100), random), random.nextInt(40) - 10);
      default -> BigDecimal.valueOf(random.nextInt(100), random.nextInt(1000) - 500).negate();
    };
  }

  /** A JSON pointer to some part of the value, if it has parts. */
  Optional<String> pointer(Object value) {
    List<Object> children = new ArrayList<>();
    List<String> tokens = new ArrayList<>();
    if (value instanceof Map<?, ?> members) {
      members.forEach(
          (name, child) -> {
            tokens.add(JsonOracle.token((String) name));
            children.add(child);
          });
    } else if (value instanceof List<?> elements) {
      for (Object element : elements) {
        tokens.add(Integer.toString(tokens.size()));
        children.add(element);
      }
    }
    if (children.isEmpty()) {
      return Optional.empty();
    }
    int child = random.nextInt(children.size());
    String pointer = '/' + tokens.get(child);
    Optional<String> inside =
        random.nextBoolean() ? pointer(children.get(child)) : Optional.empty();
    return Optional.of(pointer + inside.orElse(""));
  }

  /** One of the many texts that mean that value. */
  byte[] spell(Object value) {
    StringBuilder out = new StringBuilder();
    blanks(out);
    spell(value, out);
    blanks(out);
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void spell(Object value, StringBuilder out) {
    if (value instanceof Map<?, ?> members) {
      List<Map.Entry<?, ?>> entries = new ArrayList<>(members.entrySet());
      Collections.shuffle(entries, random);
      out.append('{');
      blanks(out);
      String comma = "";
      for (Map.Entry<?, ?> entry : entries) {
        out.append(comma);
        blanks(out);
        spellString((String) entry.getKey(), out);
        blanks(out);
        out.append(':');
        blanks(out);
        spell(entry.getValue(), out);
        blanks(out);
        comma = ",";
      }
      out.append('}');
    } else if (value instanceof List<?> elements) {
      out.append('[');
      blanks(out);
      String comma = "";
      for (Object element : elements) {
        out.append(comma);
        blanks(out);
        spell(element, out);
        blanks(out);
        comma = ",";
      }
      out.append(']');
    } else if (value instanceof String string) {
      spellString(string, out);
    } else if (value instanceof BigDecimal number) {
      spellNumber(number, out);
    } else {
      out.append(value == Null.NULL ? "null" : value);
    }
  }

  private void spellString(String string, StringBuilder out) {
    out.append('"');
    string.codePoints().forEach(c -> spellCharacter(c, out));
    out.append('"');
  }

  private void spellCharacter(int c, StringBuilder out) {
    int named = "\b\t\n\f\r\"\\/".indexOf(c);
    if (named >= 0 && random.nextInt(3) > 0) {
      out.append('\\').append("btnfr\"\\/".charAt(named));
    } else if (c < 0x20 || c == '"' || c == '\\' || random.nextInt(4) == 0) {
      for (char unit : Character.toChars(c)) {
        unicodeEscape(unit, out);
      }
    } else {
      out.appendCodePoint(c);
    }
  }

  private void unicodeEscape(char c, StringBuilder out) {
    out.append(String.format(random.nextBoolean() ? "\\u%04x" : "\\u%04X", (int) c));
  }

  private void spellNumber(BigDecimal number, StringBuilder out) {
    BigInteger unscaled = number.unscaledValue();
    int zeros = random.nextInt(3) == 0 ? random.nextInt(30) : 0;
    BigDecimal padded =
        new BigDecimal(unscaled.multiply(BigInteger.TEN.pow(zeros)), number.scale() + zeros);
    if (unscaled.signum() == 0 && random.nextBoolean()) {
      out.append('-');
    }
    if (Math.abs(padded.scale()) < 60 && random.nextInt(3) > 0) {
      out.append(padded.toPlainString());
    } else {
      // Moves the point, and mends that in the exponent.
      int shift = random.nextInt(5) - 2;
      out.append(new BigDecimal(padded.unscaledValue(), shift).toPlainString());
      out.append(random.nextBoolean() ? 'e' : 'E');
      int exponent = shift - padded.scale();
      out.append(exponent < 0 ? "-" : random.nextBoolean() ? "+" : "");
      out.append(random.nextInt(4) == 0 ? "000" : "").append(Math.abs(exponent));
    }
  }

  private void blanks(StringBuilder out) {
    while (random.nextInt(5) == 0) {
      out.append(" \t\n\r".charAt(random.nextInt(4)));
    }
  }

  /** JSON's null, for collections that have none. */
  enum Null {
    NULL
  }
}
