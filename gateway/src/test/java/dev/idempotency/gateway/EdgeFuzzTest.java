package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Requests and responses that were damaged at random end in time, and never in another's answer.
 */
@SuppressWarnings("StringConcatToTextBlock") // whose lines would not end with CR LF
class EdgeFuzzTest {

  private static final long SEED = 20_260_402L;
  private static final long MOST_NANOS = 5_000_000_000L;
  private static final int PATIENCE_MILLIS = 10_000;
  private static final Pattern SEEN = Pattern.compile("X-Seen: (\\d+)");

  private static final List<String> REQUESTS =
      List.of(
          "GET /a?b=c HTTP/1.1\r\nHost: gw.test\r\nX-Y: z\r\n\r\n",
          "POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: KEY\r\nContent-Length: 7\r\n\r\n"
              + "{\"a\":1}",
          "POST /keyed/a HTTP/1.1\r\nHost: gw.test\r\nIdempotency-Key: KEY\r\n"
              + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nX-T: 1\r\n\r\n",
          "POST /a HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 36\r\n\r\n"
              + "GET /hidden HTTP/1.1\r\nHost: gw.test\r\n\r\n".substring(0, 36)
              + "GET /a HTTP/1.1\r\nHost: gw.test\r\n\r\n",
          "POST /a HTTP/1.1\r\nHost: gw.test\r\nTransfer-Encoding: chunked\r\n\r\n"
              + "24\r\nGET /hidden HTTP/1.1\r\nHost: gw.test\r\r\n0\r\n\r\n"
              + "PUT /a HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
          "GET http://gw.test/x HTTP/1.1\r\nHost: gw.test\r\nConnection: close, X-A\r\nX-A: b\r\n\r\n");

  private static final List<String> RESPONSES =
      List.of(
          "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n",
          "HTTP/1.0 200 OK\r\n\r\nuntil the close",
          "HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 2\r\n\r\nok",
          "HTTP/1.1 204 None\r\nETag: \"x\"\r\n\r\n",
          "HTTP/1.1 304 Same\r\nContent-Length: 70\r\nConnection: keep-alive, X\r\n\r\n");

  private static final List<String> WORDS =
      List.of(
          "\r\n",
          "\n",
          "\r",
          "\r\n\r\n",
          " ",
          "\t",
          ":",
          ";",
          ",",
          "\0",
          "\u00ff",
          "0",
          "9",
          "-1",
          "chunked",
          "Transfer-Encoding: chunked\r\n",
          "Transfer-Encoding: gzip\r\n",
          "Content-Length: 3\r\n",
          "Content-Length: 0\r\n",
          "Connection: close\r\n",
          "HTTP/1.0",
          "HTTP/1.1",
          "Host: other\r\n",
          "Expect: 100-continue\r\n",
          "Upgrade: h2c\r\n",
          "GET / ",
          "ffffffffffffffff",
          "Idempotency-Key: x\r\n",
          "#",
          "?",
          "%00",
          "..",
          "//",
          "*",
          "\u000b");

  private final Random random = new Random(SEED);

  private byte[] damaged(String text) {
    StringBuilder bytes = new StringBuilder(text);
    for (int times = 1 + random.nextInt(3); times > 0 && bytes.length() > 2; times--) {
      int at = random.nextInt(bytes.length());
      int end = Math.min(bytes.length(), at + 1 + random.nextInt(6));
      switch (random.nextInt(6)) {
        case 0 -> bytes.setCharAt(at, (char) random.nextInt(256));
        case 1 -> bytes.delete(at, end);
        case 2 -> bytes.insert(at, bytes.substring(at, end));
        case 3 -> bytes.setLength(at);
        case 4 -> bytes.setCharAt(at, (char) (bytes.charAt(at) ^ (1 << random.nextInt(8))));
        default -> bytes.insert(at, WORDS.get(random.nextInt(WORDS.size())));
      }
    }
    return bytes.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  /** Everything that comes back until the end of the connection, which must come in time. */
  private static String exchange(int port, byte[] request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      ByteArrayOutputStream answer = new ByteArrayOutputStream();
      try {
        socket.getOutputStream().write(request);
        socket.shutdownOutput();
        socket.getInputStream().transferTo(answer);
      } catch (SocketException e) {
        // A reset is an end, too.
      }
      return answer.toString(StandardCharsets.ISO_8859_1);
    }
  }

  private static void assertHarmless(String answer, String sent) {
    assertThat(answer)
        .as("seed %d, sent: %s", SEED, sent)
        .doesNotContain("HTTP/1.1 500")
        .doesNotContain("Exception")
        .doesNotContain("\tat ");
  }

  @Test
  void damagedRequestsEndAndTheUpstreamSeesWhatWasJudged() throws IOException {
    AtomicInteger number = new AtomicInteger();
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> wire.respond(200, "", "X-Seen: " + number.incrementAndGet()));
        TestGateway gateway = EdgeYaml.of(upstream.url()).start()) {
      long until = System.nanoTime() + MOST_NANOS;
      for (int i = 0; i < 3_000 && System.nanoTime() < until; i++) {
        int before = number.get();
        byte[] request = damaged(any(REQUESTS).replace("KEY", "key-" + i));
        String sent = new String(request, StandardCharsets.ISO_8859_1);
        String answer = exchange(gateway.port(), request);
        assertHarmless(answer, sent);
        assertThat(answersOf(answer, before))
            .as("seed %d, sent: %s, got: %s", SEED, sent, answer)
            .isEqualTo(number.get() - before);
      }
      assertThat(upstream.received()).allSatisfy(EdgeFuzzTest::assertOneReading);
    }
  }

  /** How many of the upstream's answers since then reached the client. */
  private static int answersOf(String answer, int since) {
    List<Integer> seen = new ArrayList<>();
    for (Matcher matcher = SEEN.matcher(answer); matcher.find(); ) {
      int number = Integer.parseInt(matcher.group(1));
      if (number > since && !seen.contains(number)) {
        seen.add(number);
      }
    }
    return seen.size();
  }

  private static void assertOneReading(ScriptedUpstream.Received request) {
    assertThat(request.line()).matches("[!-~]+ /[!-~]* HTTP/1\\.1");
    assertThat(request.headers("Host")).hasSize(1);
    List<String> framing = new ArrayList<>(request.headers("Content-Length"));
    framing.addAll(request.headers("Transfer-Encoding"));
    assertThat(framing).hasSizeLessThan(2);
    assertThat(request.headerLines()).allMatch(line -> line.matches("[!-9;-~]+: ?[^\\x00\\r\\n]*"));
  }

  @Test
  void damagedResponsesEndAndPoisonNobody() throws Exception {
    Semaphore done = new Semaphore(0);
    AtomicReference<byte[]> response = new AtomicReference<>(new byte[0]);
    try (ScriptedUpstream upstream =
            ScriptedUpstream.start(
                (request, wire) -> {
                  if (request.line().startsWith("GET /clean ")) {
                    wire.respond(200, "clean");
                  } else {
                    wire.send(response.get());
                    if (request.line().contains("close")) {
                      wire.close();
                    }
                    done.release();
                  }
                });
        TestGateway gateway =
            EdgeYaml.of(upstream.url()).upstream("response-timeout: 1s").start()) {
      long until = System.nanoTime() + MOST_NANOS;
      for (int i = 0; i < 2_000 && System.nanoTime() < until; i++) {
        response.set(damaged(any(RESPONSES)));
        String sent = new String(response.get(), StandardCharsets.ISO_8859_1);
        String how = random.nextInt(200) == 0 ? "keep" : "close";
        byte[] request =
            random.nextBoolean()
                ? RawClient.request("GET", "/" + how, null, null, null)
                : RawClient.post("/keyed/" + how, "key-" + i, "{}");
        String answer = exchange(gateway.port(), request);
        assertThat(answer).as("seed %d, sent: %s", SEED, sent).startsWith("HTTP/1.1 ");
        if (!sent.contains(" 500")) {
          assertHarmless(answer, sent);
        }
        // A close that is still on its way may well meet the next request.
        assertThat(done.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
        RawResponse clean =
            RawClient.once(gateway.port(), RawClient.request("GET", "/clean", null, null, null));
        assertThat(clean.status() + " " + clean.text())
            .as("seed %d, sent before: %s", SEED, sent)
            .isEqualTo("200 clean");
      }
    }
  }
}
