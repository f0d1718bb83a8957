package dev.idempotency.gateway.exchange;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Fills in the template of the URL by which an upstream is asked about an operation. */
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
   * @return null where the path is not one of the pattern, or a name is not in it
   */
  static @Nullable String of(String template, PathPattern pattern, String path, String key) {
    Map<String, String> values = segments(pattern.toString(), path);
    values.put("key", encoded(key));
    StringBuilder target = new StringBuilder();
    Matcher name = NAME.matcher(template);
    int at = 0;
    while (name.find()) {
      String value = values.get(name.group(1));
      if (value == null) {
        return null;
      }
      target.append(template, at, name.start()).append(value);
      at = name.end();
    }
    return target.append(template, at, template.length()).toString();
  }

  private static Map<String, String> segments(String pattern, String path) {
    Map<String, String> values = new HashMap<>();
    String[] names = pattern.split("/", -1);
    String[] segments = path.split("/", -1);
    for (int i = 0; i < names.length && i < segments.length; i++) {
      Matcher name = NAME.matcher(names[i]);
      if (name.matches()) {
        values.put(name.group(1), segments[i]);
      }
    }
    return values;
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
