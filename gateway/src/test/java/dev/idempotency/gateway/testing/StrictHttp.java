package dev.idempotency.gateway.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.regex.Pattern;

/**
 * A second, unforgiving reading of HTTP/1.1 to compare the gateway's with: it knows what RFC 9112
 * demands, mends nothing, and shares no code with what it judges.
 */
public final class StrictHttp {

  private static final Pattern REQUEST_LINE =
      Pattern.compile("([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([!-~]+) HTTP/1\\.([01])");

  /** The reason is nobody's business (RFC 9112 §4), and many leave it out with its blank. */
  private static final Pattern STATUS_LINE =
      Pattern.compile("HTTP/1\\.([01]) ([1-9][0-9]{2})(\\s.*)?", Pattern.DOTALL);

  private static final Pattern FIELD_LINE =
      Pattern.compile(
          "([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \\t]*([\\t -~\\x80-\\xff]*?)[ \\t]*", Pattern.DOTALL);
  private static final Pattern BLANK_BEFORE_COLON = Pattern.compile("^([^\\s:]+)[ \\t]+:");
  private static final Pattern CHUNK_LINE =
      Pattern.compile(
          "([0-9A-Fa-f]{1,15})(;[!#$%&'*+.^_`|~0-9A-Za-z-]+(=([!#$%&'*+.^_`|~0-9A-Za-z-]+|\"([\\t"
              + " !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*\"))?)*");

  /** An upstream's extensions are ignored, whatever they are (RFC 9112 §7.1.1). */
  private static final Pattern CHUNK_LINE_OF_RESPONSE =
      Pattern.compile("([0-9A-Fa-f]{1,15})([ \\t]*(;.*)?)", Pattern.DOTALL);

  private static final Pattern HOST = Pattern.compile("[!$-.0-;=A-\\[\\]_a-z~]+");
  private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");
  private static final Pattern PATH =
      Pattern.compile("(/([A-Za-z0-9._~!$&'()*+,=:@^`{|}-]++|%[0-9A-Fa-f]{2})*+)++");
  private static final Pattern AMBIGUOUS =
      Pattern.compile(".*(//|/\\.{1,2}(/.*|$)|%2F|%5C|%[01][0-9A-F]|%7F).*");
  private static final Pattern ABSOLUTE = Pattern.compile("(?i:http)://([^/?#@]+)([/?].*)?");

  /** How the bytes end: with a message, within one, or with something that is none. */
  public enum End {
    CLEAN,
    CUT,
    MALFORMED
  }

  /** A field line. */
  public record Field(String name, String value) {}

  /** A whole request; its target in origin-form and normal. */
  public record Request(
      String method, String target, boolean http10, List<Field> fields, byte[] body) {
    /**
     * The value of the only field of that name, "-" without one, all of them where there are more.
     */
    public String field(String name) {
      return valueOf(fields, name);
    }
  }

  /** A whole response. */
  public record Response(
      int status, boolean http10, List<Field> fields, byte[] body, List<Field> trailers) {
    public String field(String name) {
      return valueOf(fields, name);
    }

    public boolean isInterim() {
      return status < 200;
    }
  }

  /**
   * What was found.
   *
   * @param at the first byte behind what was found
   */
  public record Reading<T>(List<T> found, End end, int at) {}

  private static final class Cut extends Exception {
    private static final long serialVersionUID = 1;
  }

  private static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;
  }

  private final byte[] bytes;
  private final boolean ended;
  private int at;

  private StrictHttp(byte[] bytes, boolean ended) {
    this.bytes = bytes;
    this.ended = ended;
  }

  private static String valueOf(List<Field> fields, String name) {
    List<String> values = values(fields, name);
    return values.isEmpty() ? "-" : values.size() == 1 ? values.get(0) : values.toString();
  }

  private static List<String> values(List<Field> fields, String name) {
    return fields.stream()
        .filter(field -> field.name().equalsIgnoreCase(name))
        .map(Field::value)
        .toList();
  }

  // ---- requests

  /** The requests of one connection, up to the one that ends it. */
  public static Reading<Request> requests(byte[] bytes) {
    StrictHttp in = new StrictHttp(bytes, false);
    List<Request> found = new ArrayList<>();
    int start = 0;
    try {
      while (in.at < bytes.length) {
        start = in.at;
        Request request = in.request();
        found.add(request);
        start = in.at;
        if (!persists(request)) {
          break;
        }
      }
      return new Reading<>(found, End.CLEAN, in.at);
    } catch (Cut e) {
      return new Reading<>(found, End.CUT, start);
    } catch (Malformed e) {
      return new Reading<>(found, End.MALFORMED, start);
    }
  }

  private static boolean persists(Request request) {
    List<String> options = new ArrayList<>();
    for (String value : values(request.fields(), "Connection")) {
      for (String option : value.split(",", -1)) {
        options.add(option.trim().toLowerCase(Locale.ROOT));
      }
    }
    return !options.contains("close") && (!request.http10() || options.contains("keep-alive"));
  }

  private Request request() throws Cut, Malformed {
    String line = line();
    while (line.isEmpty()) {
      line = line();
    }
    var matcher = REQUEST_LINE.matcher(line);
    require(matcher.matches());
    boolean http10 = matcher.group(3).equals("0");
    String target = normal(matcher.group(2));
    require(target != null);
    List<Field> fields = fields(false);
    List<String> hosts = values(fields, "Host");
    require(hosts.size() == 1 || (http10 && hosts.isEmpty()));
    require(hosts.isEmpty() || HOST.matcher(hosts.get(0)).matches());
    List<String> codings = values(fields, "Transfer-Encoding");
    List<String> lengths = values(fields, "Content-Length");
    require(codings.size() + lengths.size() < 2);
    byte[] body = {};
    if (!codings.isEmpty()) {
      require(!http10 && codings.get(0).equalsIgnoreCase("chunked"));
      body = chunks(false, new ArrayList<>());
    } else if (!lengths.isEmpty()) {
      body = exactly(number(lengths.get(0)));
    }
    return new Request(matcher.group(1), target, http10, fields, body);
  }

  /**
   * The target as it is to be forwarded: in origin-form, escapes of unreserved characters decoded,
   * those of others in capitals. Null where servers differ in reading it.
   */
  static String normal(String target) {
    if (target.equals("*")) {
      return target;
    }
    String origin = target;
    if (!origin.startsWith("/")) {
      var absolute = ABSOLUTE.matcher(target);
      if (!absolute.matches()) {
        return null;
      }
      String rest = absolute.group(2) == null ? "/" : absolute.group(2);
      origin = rest.startsWith("/") ? rest : "/" + rest;
    }
    int mark = origin.indexOf('?');
    String path = mark < 0 ? origin : origin.substring(0, mark);
    String query = mark < 0 ? "" : origin.substring(mark);
    if (query.indexOf('#') >= 0 || !PATH.matcher(path).matches()) {
      return null;
    }
    String normal =
        Pattern.compile("%(..)")
            .matcher(path)
            .replaceAll(
                escape -> {
                  String letter = "" + (char) Integer.parseInt(escape.group(1), 16);
                  return letter.matches("[A-Za-z0-9._~-]")
                      ? letter
                      : escape.group().toUpperCase(Locale.ROOT);
                });
    return AMBIGUOUS.matcher(normal).matches() ? null : normal + query;
  }

  // ---- responses

  /**
   * The responses to requests of these methods, each with those that go before it. An end of the
   * connection ends a body without a length.
   *
   * @param methodOf of the final response with that number
   * @param most no more final responses than these are read
   */
  public static Reading<Response> responses(
      byte[] bytes, IntFunction<String> methodOf, int most, boolean ended) {
    StrictHttp in = new StrictHttp(bytes, ended);
    List<Response> found = new ArrayList<>();
    int start = 0;
    int finals = 0;
    try {
      while (in.at < bytes.length && finals < most) {
        Response response = in.response(methodOf.apply(finals));
        found.add(response);
        finals += response.isInterim() ? 0 : 1;
        start = in.at;
      }
      return new Reading<>(found, End.CLEAN, start);
    } catch (Cut e) {
      return new Reading<>(found, End.CUT, start);
    } catch (Malformed e) {
      return new Reading<>(found, End.MALFORMED, start);
    }
  }

  private Response response(String method) throws Cut, Malformed {
    var matcher = STATUS_LINE.matcher(line());
    require(matcher.matches());
    boolean http10 = matcher.group(1).equals("0");
    int status = Integer.parseInt(matcher.group(2));
    List<Field> fields = fields(true);
    List<String> codings = values(fields, "Transfer-Encoding");
    // The same length said again is that length (RFC 9110 §8.6).
    List<String> lengths =
        values(fields, "Content-Length").stream()
            .flatMap(value -> Arrays.stream(value.split(",", -1)))
            .map(String::strip)
            .distinct()
            .toList();
    require(codings.size() + lengths.size() < 2);
    require(codings.isEmpty() || (!http10 && codings.get(0).equalsIgnoreCase("chunked")));
    long length = lengths.isEmpty() ? -1 : number(lengths.get(0));
    List<Field> trailers = new ArrayList<>();
    byte[] body = {};
    if (status >= 200 && status != 204 && status != 304 && !method.equals("HEAD")) {
      body = !codings.isEmpty() ? chunks(true, trailers) : length < 0 ? rest() : exactly(length);
    }
    return new Response(status, http10, fields, body, trailers);
  }

  private byte[] rest() throws Cut {
    if (!ended) {
      throw new Cut();
    }
    byte[] rest = Arrays.copyOfRange(bytes, at, bytes.length);
    at = bytes.length;
    return rest;
  }

  // ---- what both are made of

  private static void require(boolean right) throws Malformed {
    if (!right) {
      throw new Malformed();
    }
  }

  private String line() throws Cut, Malformed {
    for (int i = at; i < bytes.length; i++) {
      if (bytes[i] == '\r' || bytes[i] == '\n') {
        require(bytes[i] == '\r');
        if (i + 1 == bytes.length) {
          break;
        }
        require(bytes[i + 1] == '\n');
        String line = new String(bytes, at, i - at, StandardCharsets.ISO_8859_1);
        at = i + 2;
        return line;
      }
    }
    throw new Cut();
  }

  /**
   * The fields up to the empty line. In those of a response a folded line is joined and a blank
   * before the colon removed (RFC 9112 §5.1, §5.2).
   */
  private List<Field> fields(boolean response) throws Cut, Malformed {
    List<Field> fields = new ArrayList<>();
    String unfolded = "";
    for (String line = line(); !line.isEmpty(); line = line()) {
      boolean folded = line.startsWith(" ") || line.startsWith("\t");
      require(!folded || (response && !fields.isEmpty()));
      if (folded) {
        fields.remove(fields.size() - 1);
      }
      unfolded = folded ? unfolded + " " + line.strip() : line;
      String read = response ? BLANK_BEFORE_COLON.matcher(unfolded).replaceFirst("$1:") : unfolded;
      var matcher = FIELD_LINE.matcher(read);
      require(matcher.matches());
      fields.add(new Field(matcher.group(1), matcher.group(2)));
    }
    return fields;
  }

  private static long number(String text) throws Malformed {
    require(LENGTH.matcher(text).matches());
    return Long.parseLong(text);
  }

  private byte[] exactly(long length) throws Cut {
    if (length > bytes.length - at) {
      throw new Cut();
    }
    at += (int) length;
    return Arrays.copyOfRange(bytes, at - (int) length, at);
  }

  private byte[] chunks(boolean ofResponse, List<Field> trailers) throws Cut, Malformed {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    while (true) {
      var matcher = (ofResponse ? CHUNK_LINE_OF_RESPONSE : CHUNK_LINE).matcher(line());
      require(matcher.matches());
      long size = Long.parseLong(matcher.group(1), 16);
      if (size == 0) {
        trailers.addAll(fields(ofResponse));
        return body.toByteArray();
      }
      body.writeBytes(exactly(size));
      require(at >= bytes.length || bytes[at] == '\r');
      require(line().isEmpty());
    }
  }
}
