package dev.idempotency.gateway.fingerprint;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Random requests with a body, the retries that a client may send, and what damage makes of both.
 */
final class RandomRequests {

  /**
   * What is sent.
   *
   * @param headers names and values in turn
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Attempt(String[] headers, byte[] body) {
    @Override
    public String toString() {
      return Arrays.toString(headers) + ' ' + new String(body, StandardCharsets.ISO_8859_1);
    }
  }

  private static final List<List<String>> SAME_TYPES =
      List.of(
          List.of(
              "application/json",
              "application/json;charset=utf-8",
              "Application/JSON ; charset=\"UTF-8\"",
              "application/json;"),
          List.of("application/vnd.a+json", "application/Vnd.A+json; charset=utf-8"),
          List.of("application/json;profile=\"a;b\"", "application/json; Profile=\"a;b\""),
          List.of(Requests.FORM, Requests.FORM + "; charset=UTF-8"));

  private static final List<String> ODD_TYPES =
      List.of(
          "text/json",
          "text/plain",
          "application/json; charset=iso-8859-1",
          "application/json, application/json",
          "application/json; charset",
          "application/jsonx",
          "application/json;a=\"",
          "json",
          "",
          "multipart/mixed; boundary=B",
          "multipart/form-data",
          "multipart/form-data; boundary=B; boundary=B",
          "multipart/form-data; boundary=B; x=1",
          "multipart/form-data; boundary=\"B \"",
          Requests.FORM + ";charset=utf-16");

  private static final List<String> CODINGS =
      List.of("gzip", "deflate", "x-gzip", "gzip, gzip", "deflate,gzip", "GZIP");

  private static final String MUTANTS = "{}[]:,\"\\ue01-.%&=+;\r\n\u0000\u00ff\u00ef\u00bb\u00bfB";

  private final Random random;
  private final RandomJson json;
  private List<String> types = List.of();
  private String coding = "";
  private Object document = "";
  private List<String> pieces = List.of();
  private int kind;

  RandomRequests(Random random) {
    this.random = random;
    this.json = new RandomJson(random);
  }

  /** Another operation. */
  Attempt attempt() {
    kind = random.nextInt(4);
    coding = random.nextInt(3) == 0 ? CODINGS.get(random.nextInt(CODINGS.size())) : "";
    pieces = new ArrayList<>();
    switch (kind) {
      case 0, 1 -> {
        document = random.nextBoolean() ? json.value(3) : json.object(2);
        types = SAME_TYPES.get(random.nextInt(3));
      }
      case 2 -> {
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
          pieces.add(one("a", "b", "B", "c[]", "c[x]", "d.e", "d_e") + one("", "=", "=1", "=%C3"));
        }
        types = SAME_TYPES.get(3);
      }
      default -> {
        for (int i = random.nextInt(4); i > 0; i--) {
          pieces.add(one("x", "\r\n", "-") + one("B", "--", "\r") + one("\n", "\u0000", "--B1"));
        }
      }
    }
    return retry();
  }

  /** The same operation once more, as a client may spell it. */
  Attempt retry() {
    return switch (kind) {
      case 0, 1 -> sent(one(types.toArray(String[]::new)), json.spell(document));
      case 2 -> sent(one(types.toArray(String[]::new)), form());
      default -> multipart();
    };
  }

  private byte[] form() {
    List<String> pairs = new ArrayList<>(pieces);
    // Names that nobody takes for the same: any order.
    pairs.sort(
        (one, other) ->
            Character.toLowerCase(one.charAt(0)) - Character.toLowerCase(other.charAt(0)));
    if (random.nextBoolean()) {
      List<List<String>> groups = new ArrayList<>();
      for (String pair : pairs) {
        boolean begins =
            groups.isEmpty()
                || Character.toLowerCase(groups.get(groups.size() - 1).get(0).charAt(0))
                    != Character.toLowerCase(pair.charAt(0));
        if (begins) {
          groups.add(new ArrayList<>());
        }
        groups.get(groups.size() - 1).add(pair);
      }
      Collections.shuffle(groups, random);
      pairs = groups.stream().flatMap(List::stream).toList();
    }
    String form = String.join("&", pairs);
    return Requests.bytes(
        random.nextBoolean() ? form : form.replace("[", "%5b").replace("1", "%31"));
  }

  private Attempt multipart() {
    String boundary = "b" + Integer.toString(random.nextInt(1 << 20), 36);
    StringBuilder body = new StringBuilder(random.nextInt(4) == 0 ? "preamble\r\n" : "");
    for (String piece : pieces) {
      body.append("--").append(boundary).append("\r\n").append(piece).append("\r\n");
    }
    body.append("--").append(boundary).append("--").append(one("", "\r\n", "\r\nend"));
    String quote = one("", "\"");
    String type = "multipart/form-data; boundary=" + quote + boundary + quote;
    return sent(type, Requests.bytes(body.toString()));
  }

  private Attempt sent(String type, byte[] content) {
    byte[] body = content;
    String[] codings = coding.isEmpty() ? new String[0] : coding.split(", ?", -1);
    for (String one : codings) {
      body = one.equals("deflate") ? deflated(body, false) : gzipped(body);
    }
    return new Attempt(
        coding.isEmpty()
            ? new String[] {"Content-Type", type}
            : new String[] {"Content-Type", type, "Content-Encoding", coding},
        body);
  }

  private String one(String... of) {
    return of[random.nextInt(of.length)];
  }

  private byte[] deflated(byte[] content, boolean bare) {
    Deflater deflater = new Deflater(random.nextInt(10), bare);
    deflater.setInput(content);
    deflater.finish();
    byte[] coded = new byte[2 * content.length + 100];
    int length = deflater.deflate(coded);
    deflater.end();
    return Arrays.copyOf(coded, length);
  }

  /** One member or two, with another time and another name in each. */
  private byte[] gzipped(byte[] content) {
    int middle = random.nextInt(4) == 0 ? random.nextInt(content.length + 1) : content.length;
    ByteArrayOutputStream coded = new ByteArrayOutputStream();
    member(coded, Arrays.copyOf(content, middle));
    if (middle < content.length) {
      member(coded, Arrays.copyOfRange(content, middle, content.length));
    }
    return coded.toByteArray();
  }

  private void member(ByteArrayOutputStream coded, byte[] content) {
    boolean named = random.nextInt(4) == 0;
    coded.writeBytes(new byte[] {0x1F, (byte) 0x8B, 8, (byte) (named ? 8 : 0)});
    little(coded, random.nextInt());
    coded.writeBytes(new byte[] {0, (byte) random.nextInt(4)});
    if (named) {
      coded.writeBytes(new byte[] {'n', 0});
    }
    coded.writeBytes(deflated(content, true));
    CRC32 crc = new CRC32();
    crc.update(content);
    little(coded, (int) crc.getValue());
    little(coded, content.length);
  }

  private static void little(ByteArrayOutputStream coded, int number) {
    for (int i = 0; i < 4; i++) {
      coded.write(number >>> (8 * i));
    }
  }

  /** That one with another byte, or under other fields. */
  Attempt mutant(Attempt attempt) {
    return switch (random.nextInt(8)) {
      case 0 -> retyped(attempt);
      case 1 -> recoded(attempt);
      case 2 -> damagedWithin(attempt);
      case 3 -> new Attempt(attempt.headers(), marked(attempt.body()));
      default -> new Attempt(attempt.headers(), damaged(attempt.body()));
    };
  }

  /** A byte order mark before it, or something behind it. */
  private byte[] marked(byte[] body) {
    byte[] mark = Requests.bytes(one("\u00ef\u00bb\u00bf", "\u00ff\u00fe", " ", "\n"));
    boolean before = random.nextBoolean();
    byte[] marked = Arrays.copyOf(before ? mark : body, mark.length + body.length);
    System.arraycopy(
        before ? body : mark,
        0,
        marked,
        before ? mark.length : body.length,
        before ? body.length : mark.length);
    return marked;
  }

  /** What is damaged before it is coded is coded soundly. */
  private Attempt damagedWithin(Attempt attempt) {
    if (kind == 3) {
      return new Attempt(attempt.headers(), damaged(attempt.body()));
    }
    return sent(attempt.headers()[1], damaged(kind == 2 ? form() : json.spell(document)));
  }

  private byte[] damaged(byte[] body) {
    int at = random.nextInt(body.length + 1);
    int cut = at < body.length ? random.nextInt(2) : 0;
    byte mutant =
        (byte)
            (random.nextInt(3) == 0
                ? random.nextInt(256)
                : MUTANTS.charAt(random.nextInt(MUTANTS.length())));
    int inserted = cut == 0 || random.nextInt(3) > 0 ? 1 : 0;
    byte[] damaged = new byte[body.length - cut + inserted];
    System.arraycopy(body, 0, damaged, 0, at);
    if (inserted > 0) {
      damaged[at] = mutant;
    }
    System.arraycopy(body, at + cut, damaged, at + inserted, body.length - at - cut);
    return damaged;
  }

  private Attempt retyped(Attempt attempt) {
    String[] headers = attempt.headers().clone();
    List<String> others =
        random.nextBoolean() ? ODD_TYPES : SAME_TYPES.get(random.nextInt(SAME_TYPES.size()));
    String other = others.get(random.nextInt(others.size()));
    if (random.nextInt(4) == 0) {
      headers = Arrays.copyOf(headers, headers.length + 2);
      headers[headers.length - 2] = one("content-type", "Content-Encoding");
      headers[headers.length - 1] = one(other, headers[1], "gzip", "identity", "br", "");
    } else {
      headers[1] = other;
    }
    return new Attempt(headers, attempt.body());
  }

  private Attempt recoded(Attempt attempt) {
    String other =
        one("gzip", "deflate", "br", "gzip,,gzip", "Identity", "gzip, deflate, gzip", "");
    return new Attempt(
        new String[] {"Content-Type", attempt.headers()[1], "Content-Encoding", other},
        random.nextBoolean() ? attempt.body() : gzipped(attempt.body()));
  }
}
