package dev.idempotency.gateway.exchange;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fills in the template of the URL by which an upstream is asked about an operation. A value stays
 * in its place, however often the servers on the way decode, cut and resolve the path: what they
 * could take for more than one segment, or for a way out of it (RFC 3986 §5.2.4), is not asked
 * about. The answer to another question would be taken for the operation's own.
 */
final class ProbeUrl {

  private static final Pattern NAME = Pattern.compile("\\{([A-Za-z][A-Za-z0-9_-]*)}");

  private ProbeUrl() {}

  /**
   * The target in origin-form.
   *
   * @param template with <code>{key}</code> and names of the pattern's segments
   * @param pattern the route's own
   * @param path of the request that is asked about, still percent-encoded
   * @param key the client's key, which is percent-encoded here (RFC 3986 §2.1)
   * @return null where the path is not one of the pattern, a name is not in it, or a value can't be
   *     put safely into its place
   */
  static @Nullable String of(String template, PathPattern pattern, String path, String key) {
    Map<String, String> values = values(pattern, path);
    values.put("key", key);
    StringBuilder target = new StringBuilder();
    Matcher name = NAME.matcher(template);
    int at = 0;
    while (name.find()) {
      String value = values.get(name.group(1));
      if (value == null || value.isEmpty() || value.chars().anyMatch(Character::isISOControl)) {
        return null;
      }
      target.append(template, at, name.start()).append(encoded(value));
      at = name.end();
    }
    target.append(template, at, template.length());
    return isAsWritten(template, target) ? target.toString() : null;
  }

  /** What the path's segments say, decoded, by the pattern's names. */
  private static Map<String, String> values(PathPattern pattern, String path) {
    Map<String, String> values = new HashMap<>();
    if (!pattern.matches(path)) {
      // The route was another one when the request came.
      return values;
    }
    String[] names = pattern.toString().split("/", -1);
    String[] segments = path.split("/", -1);
    for (int i = 0; i < names.length && i < segments.length; i++) {
      Matcher name = NAME.matcher(names[i]);
      if (name.matches()) {
        String value = decoded(segments[i]);
        // Of a name that is there twice nobody can say which is meant.
        values.merge(name.group(1), value == null ? "" : value, (one, other) -> "");
      }
    }
    return values;
  }

  /** Whether the path has the template's segments and no others, for whoever reads it. */
  private static boolean isAsWritten(String template, StringBuilder target) {
    int query = target.indexOf("?");
    String[] segments = (query < 0 ? target : target.substring(0, query)).toString().split("/", -1);
    String[] written = template.split("[/?]", -1);
    for (int i = 1; i < segments.length; i++) {
      if (written[i].indexOf('{') >= 0 && !isOneSegment(segments[i])) {
        return false;
      }
    }
    return true;
  }

  /** Also where it is decoded more than once, and parameters of the segment are cut off. */
  private static boolean isOneSegment(String encoded) {
    String text = encoded;
    for (String before = ""; !before.equals(text); ) {
      before = text;
      int parameters = text.indexOf(';');
      String name = parameters < 0 ? text : text.substring(0, parameters);
      boolean ends = name.equals(".") || name.equals("..") || text.indexOf('/') >= 0;
      if (ends || text.indexOf('\\') >= 0 || !isText(text)) {
        return false;
      }
      text = leniently(text);
    }
    return true;
  }

  /** A dot has longer encodings too, which no UTF-8 is (RFC 3629 §10). */
  private static boolean isText(String bytes) {
    String text = utf8(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1)));
    return text != null && text.chars().noneMatch(Character::isISOControl);
  }

  /** Where something is no encoding it stands for itself; each byte is a character. */
  private static String leniently(String text) {
    StringBuilder decoded = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      boolean encoded = isEncoded(text, i);
      decoded.append(encoded ? (char) octet(text, i) : text.charAt(i));
      i += encoded ? 2 : 0;
    }
    return decoded.toString();
  }

  /** Null where it is not percent-encoded UTF-8. */
  private static @Nullable String decoded(String segment) {
    ByteBuffer bytes = ByteBuffer.allocate(segment.length());
    for (int i = 0; i < segment.length(); i++) {
      char c = segment.charAt(i);
      if (c > '~' || (c == '%' && !isEncoded(segment, i))) {
        return null;
      }
      bytes.put((byte) (c == '%' ? octet(segment, i) : c));
      i += c == '%' ? 2 : 0;
    }
    return utf8(bytes.flip());
  }

  private static @Nullable String utf8(ByteBuffer bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static boolean isEncoded(String text, int at) {
    return text.charAt(at) == '%'
        && at + 2 < text.length()
        && HexFormat.isHexDigit(text.charAt(at + 1))
        && HexFormat.isHexDigit(text.charAt(at + 2));
  }

  private static int octet(String text, int at) {
    return HexFormat.fromHexDigits(text, at + 1, at + 3);
  }

  private static String encoded(String text) {
    StringBuilder encoded = new StringBuilder();
    for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
      boolean unreserved =
          (octet >= 'a' && octet <= 'z')
              || (octet >= 'A' && octet <= 'Z')
              || (octet >= '0' && octet <= '9')
              || "-._~".indexOf(octet) >= 0;
      if (unreserved) {
        encoded.append((char) octet);
      } else {
        encoded.append('%');
        encoded.append(Character.toUpperCase(Character.forDigit((octet >> 4) & 15, 16)));
        encoded.append(Character.toUpperCase(Character.forDigit(octet & 15, 16)));
      }
    }
    return encoded.toString();
  }
}
