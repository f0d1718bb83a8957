package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Fuzz;
import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import dev.idempotency.gateway.testing.StrictHttp;
import dev.idempotency.gateway.testing.StrictHttp.End;
import dev.idempotency.gateway.testing.StrictHttp.Field;
import dev.idempotency.gateway.testing.StrictHttp.Reading;
import dev.idempotency.gateway.testing.StrictHttp.Response;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Responses of an upstream that were damaged at random: the client gets what a strict reading of
 * them finds or hears that it gets nothing, a duplicate gets the same, and whoever comes next gets
 * none of it.
 */
@SuppressWarnings("StringConcatToTextBlock") // whose lines would not end with CR LF
class ResponseFuzzTest {

  private static final int SECONDS = 14;
  private static final long CASES = 5000;
  private static final int PAIRS = 2;
  private static final int PATIENCE_MILLIS = 25_000;
  private static final String TEXT = "Content-Type: text/plain\r\n";
  private static final String CHUNKED = "Transfer-Encoding: chunked\r\n\r\n";

  private static final List<String> WELL_FORMED =
      List.of(
          "HTTP/1.1 200 OK\r\n" + TEXT + "Content-Length: 5\r\n\r\nhello",
          "HTTP/1.1 201 Made\r\nContent-Length: 0\r\nLocation: /a\r\n\r\n",
          "HTTP/1.1 200 OK\r\n"
              + TEXT
              + CHUNKED
              + "3\r\nabc\r\n2;x=\"y\"\r\nde\r\n0\r\nX-T: 1\r\n\r\n",
          "HTTP/1.1 404 No\r\nX-A: b\r\nx-a: c\r\n" + CHUNKED + "0\r\n\r\n",
          "HTTP/1.0 200 OK\r\n" + TEXT + "\r\nuntil the close",
          "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
          "HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: y\r\n\r\nuntil the close",
          "HTTP/1.1 103 Hints\r\n"
              + "Link: </a>\r\n\r\n"
              + "HTTP/1.1 201 Made\r\n"
              + "Content-Length: 2\r\n\r\n"
              + "ok",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 422 Bad\r\n" + CHUNKED + "2\r\nno\r\n0\r\n\r\n",
          "HTTP/1.1 204 None\r\nETag: \"x\"\r\n\r\n",
          "HTTP/1.1 304 Same\r\nContent-Length: 70\r\nConnection: keep-alive, X\r\n\r\n",
          "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nbusy",
          "HTTP/1.1 200 OK\r\nX-Long: a\r\n b\r\nContent-Length: 2\r\n\r\nok");

  private static final List<byte[]> FILES = Fuzz.files(".resp");

  /** Not the upstream's to say, or of one connection only. */
  private static final Set<String> OWN =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-connection",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-authentication-info",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "http2-settings",
          "content-length",
          "date",
          "idempotent-replayed",
          "idempotency-outcome",
          "idempotency-bypassed");

  private static final Pattern LARGE =
      Pattern.compile("^Content-Length: [1-9][0-9]{6,}", Pattern.MULTILINE);

  /** What was asked and what is answered. */
  private record Exchange(
      String method, boolean keyed, boolean http10, byte[] sent, boolean damaged, boolean closes) {}

  /** What came back; cut where the end of the connection was a reset. */
  private record Answer(List<Response> interims, Response last, boolean complete, byte[] bytes) {}

  /**
   * A gateway with an upstream of its own: one exchange at a time, so that the next is the next.
   */
  private static final class Pair implements AutoCloseable {
    private final Semaphore done = new Semaphore(0);
    private final ScriptedUpstream upstream = ScriptedUpstream.ok();
    private final TestGateway gateway =
        EdgeYaml.of(upstream.url()).upstream("response-timeout: 5s").start();

    @Override
    public void close() {
      gateway.close();
      upstream.close();
    }
  }

  @Test
  void clientGetsWhatAStrictReadingFindsOrNothingAndTheNextOneTheirOwn() throws Exception {
    try (Pair one = new Pair();
        Pair two = new Pair()) {
      List<Pair> pairs = List.of(one, two);
      Fuzz.run(
          PAIRS,
          SECONDS,
          CASES,
          (fuzz, number) -> {
            Exchange exchange = exchange(fuzz);
            try {
              run(fuzz, exchange, number, pairs.get((int) (number % PAIRS)));
            } catch (Throwable e) {
              String how = exchange.method + (exchange.closes ? ", then closed" : "");
              throw new AssertionError(
                  e.getMessage() + "\nanswered to " + how + Fuzz.shown(exchange.sent), e);
            }
          });
    }
  }

  private static Exchange exchange(Fuzz fuzz) {
    byte[] message =
        fuzz.oneIn(4)
            ? fuzz.any(FILES)
            : fuzz.any(WELL_FORMED).getBytes(StandardCharsets.ISO_8859_1);
    boolean keyed = fuzz.oneIn(2);
    String method = keyed ? "POST" : fuzz.any(List.of("GET", "GET", "HEAD", "PUT"));
    boolean damaged = !fuzz.oneIn(8);
    byte[] sent = damaged ? fuzz.damaged(message, fuzz.any(FILES)) : message;
    Reading<Response> reading = reading(method, sent, false);
    // Else the gateway waits as long as it is told to.
    boolean closes = !isWhole(reading) || fuzz.oneIn(2);
    return new Exchange(method, keyed, !keyed && fuzz.oneIn(6), sent, damaged, closes);
  }

  private static Reading<Response> reading(String method, byte[] bytes, boolean ended) {
    return StrictHttp.responses(bytes, number -> method, 1, ended);
  }

  private static boolean isWhole(Reading<Response> reading) {
    List<Response> found = reading.found();
    return !found.isEmpty() && !found.get(found.size() - 1).isInterim();
  }

  private static void run(Fuzz fuzz, Exchange exchange, long number, Pair pair) throws Exception {
    Reading<Response> reading = reading(exchange.method, exchange.sent, exchange.closes);
    // What is left over comes with the end of what it is left over from.
    int end = isWhole(reading) ? reading.at() : exchange.sent.length;
    List<byte[]> pieces = fuzz.pieces(exchange.sent, end);
    pair.upstream.script(
        (request, wire) -> {
          try {
            for (byte[] piece : pieces) {
              wire.send(piece);
            }
            if (exchange.closes) {
              wire.close();
            }
          } finally {
            pair.done.release();
          }
        });
    String path = (exchange.keyed ? "/keyed/" : "/") + number;
    String key = exchange.keyed ? "Idempotency-Key: key-" + number + "\r\n" : "";
    int before = pair.upstream.requests();
    Answer first = ask(pair.gateway.port(), exchange, path, key);
    assertThat(pair.done.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    judge(reading, exchange, first);
    if (exchange.keyed) {
      Answer second = ask(pair.gateway.port(), exchange, path, key);
      int times = pair.upstream.requests() - before;
      if (times == 2) {
        assertThat(pair.done.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
      }
      judgeDuplicate(reading, first, second, times);
    }
    pair.upstream.script((request, wire) -> wire.respond(203, "clean " + request.line()));
    RawResponse clean =
        RawClient.once(
            pair.gateway.port(),
            exchange.keyed
                ? RawClient.post(path, "key-" + number, "{}", "Authorization: another tenant")
                : RawClient.request("GET", "/clean/" + number, null, null, null));
    String next = exchange.keyed ? "POST " + path : "GET /clean/" + number;
    assertThat(clean.status() + " " + clean.text()).isEqualTo("203 clean " + next + " HTTP/1.1");
    assertThat(clean.isReplay()).isFalse();
    assertThat(clean.complete()).isTrue();
  }

  private static Answer ask(int port, Exchange exchange, String path, String key)
      throws IOException {
    String request =
        exchange.method
            + ' '
            + path
            + (exchange.http10 ? " HTTP/1.0" : " HTTP/1.1")
            + "\r\nHost: gw.test\r\n"
            + key
            + "\r\n";
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    boolean reset = false;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      socket.shutdownOutput();
      byte[] buffer = new byte[16 * 1024];
      for (int read = 0; read >= 0; read = socket.getInputStream().read(buffer)) {
        answer.write(buffer, 0, read);
      }
    } catch (SocketException e) {
      reset = true;
    }
    byte[] bytes = answer.toByteArray();
    Reading<Response> reading = reading(exchange.method, bytes, !reset);
    List<Response> found = reading.found();
    assertThat(reading.end()).as("answer: %s", Fuzz.shown(bytes)).isNotEqualTo(End.MALFORMED);
    assertThat(reading.end() == End.CUT || reading.at() == bytes.length)
        .as("one answer: %s", Fuzz.shown(bytes))
        .isTrue();
    boolean whole = isWhole(reading);
    List<Response> interims = whole ? found.subList(0, found.size() - 1) : found;
    return new Answer(interims, whole ? found.get(found.size() - 1) : null, whole, bytes);
  }

  private static boolean isProblem(Response response, String name) {
    return new String(response.body(), StandardCharsets.ISO_8859_1)
        .contains("/idempotency#" + name);
  }

  /** Nothing of the upstream's response, and that is said. */
  private static boolean isRefusal(Answer answer, Exchange exchange) {
    if (!answer.complete) {
      // Only what is streamed can be broken off, and a head must have come before.
      return answer.bytes.length > 0 && (!exchange.keyed || isTooLargeToKeep(answer.bytes));
    }
    int status = answer.last.status();
    boolean named =
        isProblem(answer.last, "outcome-unknown")
            || isProblem(answer.last, "upstream-unreachable")
            || exchange.method.equals("HEAD");
    return (status == 502 || status == 504) && named;
  }

  /** By the length that it has in its head; seven digits are over the limit. */
  private static boolean isTooLargeToKeep(byte[] answer) {
    return LARGE.matcher(new String(answer, StandardCharsets.ISO_8859_1)).find();
  }

  private static void judge(Reading<Response> reading, Exchange exchange, Answer answer) {
    String shown = "answer: " + Fuzz.shown(answer.bytes);
    if (!isWhole(reading)) {
      assertThat(isRefusal(answer, exchange)).as("refused, %s", shown).isTrue();
      return;
    }
    if (isRefusal(answer, exchange)) {
      // More may be refused than must be, but nothing that is right.
      assertThat(exchange.damaged).as("taken, %s", shown).isTrue();
      return;
    }
    Response sent = reading.found().get(reading.found().size() - 1);
    assertThat(answer.complete).as(shown).isTrue();
    assertThat(answer.last.status()).as(shown).isEqualTo(sent.status());
    // Nobody expects content there (RFC 9110 §15.3.6).
    byte[] body = sent.status() == 205 ? new byte[0] : sent.body();
    assertThat(answer.last.body()).as(shown).isEqualTo(body);
    assertThat(endToEnd(answer.last.fields(), answer.last))
        .as(shown)
        .isEqualTo(endToEnd(sent.fields(), sent));
    if (!exchange.http10) {
      assertThat(endToEnd(answer.last.trailers(), answer.last))
          .as(shown)
          .isEqualTo(endToEnd(sent.trailers(), answer.last));
    }
  }

  private static List<String> endToEnd(List<Field> fields, Response response) {
    List<String> nominated = new ArrayList<>();
    for (Field field : response.fields()) {
      if (field.name().equalsIgnoreCase("Connection")) {
        for (String option : field.value().split(",", -1)) {
          nominated.add(option.trim().toLowerCase(Locale.ROOT));
        }
      }
    }
    List<String> kept = new ArrayList<>();
    for (Field field : fields) {
      String name = field.name().toLowerCase(Locale.ROOT);
      if (!OWN.contains(name) && !nominated.contains(name)) {
        kept.add(field.name() + ": " + field.value());
      }
    }
    return kept;
  }

  private static void judgeDuplicate(
      Reading<Response> reading, Answer first, Answer second, int times) {
    String shown = "first: " + Fuzz.shown(first.bytes) + "\nsecond: " + Fuzz.shown(second.bytes);
    assertThat(second.complete).as(shown).isTrue();
    if (times == 2) {
      assertThat(first.last.status()).as(shown).isIn(401, 403, 408, 425, 429, 503);
    } else if (second.last.field("Idempotent-Replayed").equals("true")) {
      assertThat(second.last.status()).as(shown).isEqualTo(first.last.status());
      assertThat(second.last.body()).as(shown).isEqualTo(first.last.body());
      assertThat(isWhole(reading)).as(shown).isTrue();
    } else {
      assertThat(second.last.status()).as(shown).isEqualTo(409);
      assertThat(isProblem(second.last, "outcome-unknown")).as(shown).isTrue();
      // What is too large to be kept has been on its way when it broke off.
      assertThat(!first.complete || first.last.status() > 500).as(shown).isTrue();
    }
  }
}
