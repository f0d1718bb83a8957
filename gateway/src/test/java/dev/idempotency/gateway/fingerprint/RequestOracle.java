package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Headers;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/**
 * What a request's media type, coding and body mean as data, by another way than the fingerprinter:
 * regular expressions, streams and sorted maps. Two texts are equal only where the requests are;
 * what cannot be read strictly counts as the bytes that came.
 */
final class RequestOracle {

  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
  private static final String QUOTED = "\"(?:[^\"\\\\]|\\\\[\\s\\S])*\"";
  private static final Pattern TYPE =
      Pattern.compile(
          "[ \t]*(%s)/(%s)((?:[ \t]*;[ \t]*(?:%s=(?:%s|%s))?)*)[ \t]*"
              .formatted(TOKEN, TOKEN, TOKEN, TOKEN, QUOTED));
  private static final Pattern PARAMETER =
      Pattern.compile(";[ \t]*(%s)=(%s|%s)".formatted(TOKEN, TOKEN, QUOTED));
  private static final Pattern PAIR =
      Pattern.compile(
          "(?:[!-~&&[^;%&=]]|%[0-9A-Fa-f]{2})*+(?:=(?:[!-~&&[^;%&]]|%[0-9A-Fa-f]{2})*+)?+");

  /** Exponents that the oracle of documents cannot hold. */
  private static final Pattern BEYOND_BIG_DECIMAL = Pattern.compile("[eE][+-]?[0-9]{9}");

  private RequestOracle() {}

  /** Nothing where it cannot say. */
  static Optional<String> meaning(Headers headers, byte[] body) {
    List<String> types = headers.all("content-type");
    List<String> lines = headers.all("content-encoding");
    boolean plain =
        lines.isEmpty() || (lines.size() == 1 && lines.get(0).equalsIgnoreCase("identity"));
    List<String> codings = new ArrayList<>();
    byte[] content = plain ? body : decoded(String.join(",", lines), body, codings);
    if (content == null) {
      return Optional.of(
          "as it came " + types.stream().map(RequestOracle::text).toList() + lines + latin(body));
    }
    if (BEYOND_BIG_DECIMAL.matcher(latin(content)).find()) {
      return Optional.empty();
    }
    String form = types.size() == 1 ? form(types.get(0), content) : null;
    return Optional.of(
        codings
            + (form != null
                ? form
                : "raw " + types.stream().map(RequestOracle::text).toList() + latin(content)));
  }

  private static String latin(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  // ---- media type

  private static String text(String line) {
    Map<String, List<String>> parameters = new TreeMap<>();
    String type = type(line, parameters);
    return type == null ? line : type + ordered(line);
  }

  /** All parameters in the order in which they came. */
  private static String ordered(String line) {
    StringBuilder text = new StringBuilder();
    Matcher parameter = PARAMETER.matcher(line);
    while (parameter.find()) {
      text.append(parameter.group(1).toLowerCase(Locale.ROOT)).append(parameter.group(2));
    }
    return text.toString();
  }

  private static String type(String line, Map<String, List<String>> parameters) {
    Matcher type = TYPE.matcher(line);
    if (!type.matches()) {
      return null;
    }
    Matcher parameter = PARAMETER.matcher(type.group(3));
    while (parameter.find()) {
      parameters
          .computeIfAbsent(parameter.group(1).toLowerCase(Locale.ROOT), n -> new ArrayList<>())
          .add(parameter.group(2));
    }
    return (type.group(1) + '/' + type.group(2)).toLowerCase(Locale.ROOT);
  }

  /** What the content means by that type, or null. */
  private static String form(String line, byte[] content) {
    Map<String, List<String>> parameters = new TreeMap<>();
    String type = type(line, parameters);
    if (type == null) {
      return null;
    }
    List<String> boundaries = parameters.getOrDefault("boundary", List.of());
    List<String> charsets = new ArrayList<>(parameters.getOrDefault("charset", List.of()));
    charsets.removeIf(charset -> charset.replace("\"", "").equalsIgnoreCase("utf-8"));
    parameters.remove("boundary");
    parameters.remove("charset");
    String rest = type + parameters + charsets;
    if (type.equals("multipart/form-data")) {
      String read =
          boundaries.size() == 1 ? parts(latin(content), unquoted(boundaries.get(0))) : null;
      return read == null ? null : rest + read;
    }
    if (!charsets.isEmpty()) {
      return null;
    }
    if (type.equals("application/x-www-form-urlencoded")) {
      String read = pairs(latin(content));
      return read == null ? null : rest + read;
    }
    return type.equals("application/json") || type.endsWith("+json")
        ? JsonOracle.canonical(content).map(json -> rest + "JSON" + json).orElse(null)
        : null;
  }

  private static String unquoted(String value) {
    return value.startsWith("\"") ? value.substring(1, value.length() - 1) : value;
  }

  // ---- forms

  private static String pairs(String form) {
    if (form.isEmpty()) {
      return "pairs{}";
    }
    Map<String, List<String>> values = new TreeMap<>();
    for (String pair : form.split("&", -1)) {
      if (pair.isEmpty() || !PAIR.matcher(pair).matches()) {
        return null;
      }
      String[] sides = pair.split("=", 2);
      String name = URLDecoder.decode(sides[0], StandardCharsets.ISO_8859_1);
      String value =
          sides.length == 1 ? "" : URLDecoder.decode(sides[1], StandardCharsets.ISO_8859_1);
      // Everything that a reader may take for the same name keeps its order.
      String stem = name.replaceAll("(?s)[\\[\\x80-\\xFF].*", "").replaceAll("[. ]", "_");
      values
          .computeIfAbsent(stem.toLowerCase(Locale.ROOT), s -> new ArrayList<>())
          .add(sides.length + ":" + name.length() + name + value.length() + value);
    }
    return "pairs" + values;
  }

  // ---- multipart

  private static String parts(String body, String boundary) {
    String[] pieces = ("\r\n" + body).split(Pattern.quote("\r\n--" + boundary), -1);
    StringBuilder parts = new StringBuilder("parts");
    for (int i = 1; i < pieces.length; i++) {
      if (pieces[i].startsWith("--")) {
        return i == pieces.length - 1 ? parts.toString() : null;
      }
      if (!pieces[i].startsWith("\r\n")) {
        return null;
      }
      String part = pieces[i].substring(2);
      parts.append(part.length()).append(part);
    }
    return null;
  }

  // ---- codings

  /** Null where it can't be undone strictly. */
  private static byte[] decoded(String field, byte[] body, List<String> codings) {
    for (String coding : field.split(",", -1)) {
      codings.add(coding.strip().toLowerCase(Locale.ROOT));
    }
    byte[] content = body;
    try {
      for (int i = codings.size() - 1; i >= 0; i--) {
        content =
            switch (codings.get(i)) {
              case "gzip", "x-gzip" -> gunzip(content);
              case "deflate" -> inflate(content, codings, i);
              default -> throw new IOException("unknown");
            };
      }
      return content;
    } catch (IOException e) {
      return null;
    }
  }

  private static byte[] gunzip(byte[] coded) throws IOException {
    ByteArrayInputStream in = new ByteArrayInputStream(coded);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    do {
      skipHeader(in);
      byte[] member = inflated(in, true);
      CRC32 crc = new CRC32();
      crc.update(member);
      if (number(in, 4) != crc.getValue() || number(in, 4) != member.length) {
        throw new IOException("check sum");
      }
      out.write(member);
    } while (in.available() > 0);
    return out.toByteArray();
  }

  private static void skipHeader(ByteArrayInputStream bytes) throws IOException {
    CheckedInputStream in = new CheckedInputStream(bytes, new CRC32());
    if (number(in, 3) != 0x088B1F) {
      throw new IOException("magic");
    }
    int flags = (int) number(in, 1);
    number(in, 6);
    if (flags > 31) {
      throw new IOException("reserved");
    }
    if ((flags & 4) != 0) {
      number(in, (int) number(in, 2));
    }
    for (int texts = Integer.bitCount(flags & 24); texts > 0; texts--) {
      long octet = number(in, 1);
      while (octet != 0) {
        octet = number(in, 1);
      }
    }
    long sum = in.getChecksum().getValue() & 0xFFFF;
    if ((flags & 2) != 0 && number(in, 2) != sum) {
      throw new IOException("header's check sum");
    }
  }

  private static long number(InputStream in, int size) throws IOException {
    long number = 0;
    for (int i = 0; i < size; i++) {
      long b = in.read();
      if (b < 0) {
        throw new IOException("end");
      }
      number |= i < 8 ? b << (8 * i) : 0;
    }
    return number;
  }

  private static byte[] inflate(byte[] coded, List<String> codings, int at) throws IOException {
    ByteArrayInputStream in = new ByteArrayInputStream(coded);
    boolean framed =
        coded.length > 1
            && (coded[0] & 15) == 8
            && new BigInteger(1, new byte[] {coded[0], coded[1]}).intValue() % 31 == 0;
    codings.set(at, framed ? "deflate" : "bare");
    byte[] content = inflated(in, !framed);
    if (in.available() > 0) {
      throw new IOException("something follows");
    }
    return content;
  }

  /** One byte at a time, so that what follows is still there. */
  private static byte[] inflated(ByteArrayInputStream in, boolean bare) throws IOException {
    Inflater inflater = new Inflater(bare);
    try (InflaterInputStream out = new InflaterInputStream(in, inflater, 1)) {
      return out.readAllBytes();
    } finally {
      inflater.end();
    }
  }
}
