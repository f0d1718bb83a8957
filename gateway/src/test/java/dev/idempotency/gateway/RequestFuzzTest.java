package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Fuzz;
import dev.idempotency.gateway.testing.StrictHttp;
import dev.idempotency.gateway.testing.StrictHttp.End;
import dev.idempotency.gateway.testing.StrictHttp.Reading;
import dev.idempotency.gateway.testing.StrictHttp.Request;
import dev.idempotency.gateway.testing.StrictHttp.Response;
import dev.idempotency.gateway.testing.StrictUpstream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/**
 * Requests that were damaged at random, on several connections at the same time: the upstream sees
 * only what a strict reading of the client's bytes finds, and everybody gets their own answers.
 */
@SuppressWarnings("StringConcatToTextBlock") // whose lines would not end with CR LF
class RequestFuzzTest {

  private static final int SECONDS = 14;
  private static final long CASES = 5000;
  private static final int CONNECTIONS = 6;
  private static final int PATIENCE_MILLIS = 25_000;
  private static final Set<Integer> REFUSALS_5XX = Set.of(501, 505);

  private static final String HEAD = "Host: gw.test\r\nX-Fuzz-Id: ID\r\n";
  private static final String KEYED = HEAD + "Idempotency-Key: KEY\r\n";
  private static final String CHUNKED = "Transfer-Encoding: chunked\r\n\r\n";
  private static final String HIDDEN = "GET /hidden HTTP/1.1\r\nHost: gw.test\r\n\r\n";

  private static final List<String> WELL_FORMED =
      List.of(
          "GET /a?b=c HTTP/1.1\r\n" + HEAD + "\r\n",
          "POST /keyed/a HTTP/1.1\r\n" + KEYED + "Content-Length: 9\r\n\r\n{\"a\":\"1\"}",
          "POST /keyed/b HTTP/1.1\r\n" + KEYED + CHUNKED + "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n",
          "POST /keyed/c HTTP/1.1\r\n" + KEYED + CHUNKED + "5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n",
          "POST /keyed/d HTTP/1.1\r\n"
              + KEYED
              + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
          "POST /p HTTP/1.1\r\n" + HEAD + "Content-Length: 39\r\n\r\n" + HIDDEN,
          "PUT /p HTTP/1.1\r\n" + HEAD + CHUNKED + "27\r\n" + HIDDEN + "\r\n0\r\nX: y\r\n\r\n",
          "PUT /p HTTP/1.0\r\n" + HEAD + "Connection: keep-alive\r\nContent-Length: 2\r\n\r\nID",
          "HEAD /h/%61%2a HTTP/1.1\r\n" + HEAD + "Accept: */*\r\n\r\n",
          "OPTIONS * HTTP/1.1\r\n" + HEAD + "\r\n",
          "DELETE http://gw.test/x?y HTTP/1.1\r\n" + HEAD + "\r\n",
          "PATCH /p HTTP/1.1\r\n"
              + HEAD
              + "Expect: 100-continue\r\n"
              + CHUNKED
              + "2\r\nID\r\n0\r\n\r\n",
          "GET /c HTTP/1.1\r\n" + HEAD + "Connection: close, X-A\r\nX-A: b\r\n\r\n",
          "GET /old HTTP/1.0\r\n" + HEAD + "\r\n");

  private static final List<byte[]> FILES = Fuzz.files(".http");

  /** What the clients' bytes may have upstream see, of all connections. */
  private final Set<String> expected = ConcurrentHashMap.newKeySet();

  @Test
  void upstreamSeesWhatAStrictReadingFindsAndEachClientItsOwnAnswers() throws Exception {
    try (StrictUpstream upstream = StrictUpstream.start();
        TestGateway gateway = EdgeYaml.of(upstream.url()).threads(2).start()) {
      Fuzz.run(
          CONNECTIONS,
          SECONDS,
          CASES,
          (fuzz, number) -> {
            boolean whole = fuzz.oneIn(6);
            byte[] sent = input(fuzz, "" + number, whole);
            try {
              connection(fuzz, sent, whole, gateway.port());
              assertThat(upstream.malformed()).as("sent upstream").isEmpty();
              for (String seen : upstream.taken()) {
                assertThat(expected.contains(seen)).as("seen upstream: %s", seen).isTrue();
              }
            } catch (Throwable e) {
              throw new AssertionError(e.getMessage() + "\nsent:" + Fuzz.shown(sent), e);
            }
          });
    }
  }

  private static byte[] input(Fuzz fuzz, String number, boolean whole) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = fuzz.below(4); i >= 0; i--) {
      byte[] message = message(fuzz, number + "-" + i, whole);
      all.writeBytes(whole || fuzz.oneIn(2) ? message : fuzz.damaged(message, fuzz.any(FILES)));
    }
    return all.toByteArray();
  }

  private static byte[] message(Fuzz fuzz, String id, boolean wellFormed) {
    if (!wellFormed && fuzz.oneIn(3)) {
      return fuzz.any(FILES);
    }
    String text = fuzz.any(WELL_FORMED).replace("KEY", "key-" + id);
    // Of the same length everywhere, so that framing needs no counting.
    String head = text.substring(0, text.indexOf("\r\n\r\n"));
    return (head.replace("ID", "id-" + id) + text.substring(head.length()))
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private void connection(Fuzz fuzz, byte[] sent, boolean whole, int port) throws IOException {
    Reading<Request> reading = StrictHttp.requests(sent);
    for (Request request : reading.found()) {
      expected.add(StrictUpstream.shown(request));
    }
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      boolean cut = fuzz.oneIn(12);
      boolean keep = reading.end() == End.CLEAN && fuzz.oneIn(2);
      try {
        for (byte[] piece : fuzz.pieces(sent, sent.length)) {
          socket.getOutputStream().write(piece);
        }
        if (!cut && !keep) {
          socket.shutdownOutput();
        }
      } catch (SocketException e) {
        // Refused before everything was sent; the answer may still be read.
      }
      if (cut) {
        socket.setSoLinger(fuzz.oneIn(2), 0);
      } else {
        byte[] answers = answers(socket, keep ? reading : null);
        judge(reading, sent, answers);
        if (whole) {
          served(reading, answers);
        }
      }
    }
  }

  /** What comes until the connection ends, or every request is answered. */
  private static byte[] answers(Socket socket, Reading<Request> until) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] buffer = new byte[16 * 1024];
    try {
      while (until == null || isOpen(until, all.toByteArray())) {
        int read = socket.getInputStream().read(buffer);
        if (read < 0) {
          break;
        }
        all.write(buffer, 0, read);
      }
    } catch (SocketException e) {
      // A reset is an end, too.
    }
    return all.toByteArray();
  }

  private static Reading<Response> responses(
      Reading<Request> requests, String tail, byte[] answers) {
    List<Request> found = requests.found();
    return StrictHttp.responses(
        answers,
        number -> number < found.size() ? found.get(number).method() : tail,
        Integer.MAX_VALUE,
        false);
  }

  /** Whether an answer is to come yet. */
  private static boolean isOpen(Reading<Request> requests, byte[] answers) {
    List<Response> finals =
        responses(requests, "", answers).found().stream().filter(it -> !it.isInterim()).toList();
    return finals.size() < requests.found().size()
        && finals.stream().noneMatch(it -> it.field("Connection").equals("close"));
  }

  private static void judge(Reading<Request> requests, byte[] sent, byte[] answers) {
    List<Request> found = requests.found();
    int tail = requests.at();
    boolean head =
        new String(sent, tail, sent.length - tail, StandardCharsets.ISO_8859_1)
            .strip()
            .startsWith("HEAD ");
    Reading<Response> read = responses(requests, "", answers);
    if (read.end() != End.CLEAN && head) {
      read = responses(requests, "HEAD", answers);
    }
    String shown = "answers: " + Fuzz.shown(answers);
    assertThat(read.end()).as(shown).isEqualTo(End.CLEAN);
    List<Response> finals = read.found().stream().filter(it -> !it.isInterim()).toList();
    assertThat(finals.size())
        .as(shown)
        .isLessThanOrEqualTo(found.size() + (requests.end() == End.CLEAN ? 0 : 1));
    for (int i = 0; i < finals.size(); i++) {
      harmless(finals.get(i), shown);
      if (i < found.size()) {
        own(found.get(i), finals.get(i), shown);
      } else {
        assertThat(finals.get(i).status()).as(shown).isGreaterThanOrEqualTo(400);
      }
    }
    if (finals.size() < found.size()) {
      // Whoever is not answered was told so: a refusal ends the connection.
      assertThat(finals).as(shown).isNotEmpty();
      assertThat(finals.get(finals.size() - 1).field("Connection")).as(shown).isEqualTo("close");
    }
  }

  /** What is right is not refused. */
  private static void served(Reading<Request> requests, byte[] answers) {
    assertThat(requests.end()).isEqualTo(End.CLEAN);
    List<Response> finals =
        responses(requests, "", answers).found().stream().filter(it -> !it.isInterim()).toList();
    assertThat(finals).as("answers: %s", Fuzz.shown(answers)).hasSameSizeAs(requests.found());
    assertThat(finals)
        .as("answers: %s", Fuzz.shown(answers))
        .allMatch(it -> it.status() == StrictUpstream.STATUS || it.status() == 204);
  }

  private static void harmless(Response response, String shown) {
    assertThat(response.status() < 500 || REFUSALS_5XX.contains(response.status()))
        .as(shown)
        .isTrue();
    assertThat(new String(response.body(), StandardCharsets.ISO_8859_1))
        .as(shown)
        .doesNotContain("Exception")
        .doesNotContain("\tat ");
  }

  private static void own(Request request, Response response, String shown) {
    if (response.status() != StrictUpstream.STATUS) {
      return;
    }
    String echo = StrictUpstream.shown(request);
    if (response.field("Idempotent-Replayed").equals("true")) {
      // The first attempt may have had another id, and a body that is the same data.
      assertThat(response.field("X-Line")).as(shown).isEqualTo(StrictUpstream.line(request));
    } else {
      assertThat(response.field("X-Echo")).as(shown).isEqualTo(StrictUpstream.hash(echo));
      if (!request.method().equals("HEAD")) {
        assertThat(new String(response.body(), StandardCharsets.ISO_8859_1))
            .as(shown)
            .isEqualTo(echo);
      }
    }
  }
}
