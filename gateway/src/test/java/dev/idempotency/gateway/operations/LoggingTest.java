package dev.idempotency.gateway.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.util.ContextInitializer;
import ch.qos.logback.core.joran.spi.JoranException;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class LoggingTest {

  private static final Logger OWN = LoggerFactory.getLogger("dev.idempotency.gateway.Planted");
  private static final Logger LIBRARY = LoggerFactory.getLogger("io.netty.Planted");
  private static final Logger ACCESS = LoggerFactory.getLogger(AccessLog.LOGGER);

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** Everybody else's tests want the log that they know. */
  @AfterEach
  void restore() throws JoranException {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    new ContextInitializer(context).autoConfig();
    context.start();
  }

  private List<String> lines() {
    Logging.stop();
    return out.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void eventIsOneJsonObject() throws JsonProcessingException {
    Logging.configure(Logging.Format.JSON, "info", out);
    OWN.error("It \"failed\"\n{}", "twice", new IllegalStateException("planted"));

    List<String> lines = lines();
    assertThat(lines).hasSize(1);
    JsonNode event = new ObjectMapper().readTree(lines.get(0));
    assertThat(event.fieldNames())
        .toIterable()
        .containsExactly("ts", "level", "logger", "thread", "message", "error");
    assertThat(event.get("ts").textValue()).matches("\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}\\.\\d{3}Z");
    assertThat(event.get("level").textValue()).isEqualTo("ERROR");
    assertThat(event.get("message").textValue()).isEqualTo("It \"failed\"\ntwice");
    assertThat(event.get("error").textValue())
        .startsWith("java.lang.IllegalStateException: planted")
        .contains("LoggingTest");
  }

  @Test
  void textMessageCannotSmuggleASecondLine() {
    Logging.configure(Logging.Format.TEXT, "info", out);
    OWN.warn("first\n2026-11-29T12:00:00.000Z ERROR forged");

    assertThat(lines())
        .hasSize(1)
        .first()
        .asString()
        .contains(" WARN dev.idempotency.gateway.Planted - first 2026-");
  }

  @Test
  void levelIsThatOfOwnLinesAndLibrariesWarn() {
    Logging.configure(Logging.Format.TEXT, "debug", out);
    OWN.trace("own trace");
    OWN.debug("own debug");
    LIBRARY.info("library info");
    LIBRARY.warn("library warn");

    assertThat(lines())
        .map(line -> line.replaceAll(".* - ", ""))
        .containsExactly("own debug", "library warn");
  }

  @Test
  void accessLineIsWrittenAsItIs() {
    Logging.configure(Logging.Format.JSON, "error", out);
    ACCESS.info("{\"path\":\"/Größe\"}");

    assertThat(lines()).containsExactly("{\"path\":\"/Größe\"}");
  }

  @Test
  void stuckReaderDropsLinesAndBlocksNobody() {
    CountDownLatch reads = new CountDownLatch(1);
    OutputStream stuck =
        new OutputStream() {
          @Override
          public void write(int one) {
            throw new AssertionError("lines are written whole");
          }

          @Override
          public void write(byte[] bytes, int from, int length) {
            // The writer is interrupted when the log ends and must go on all the same.
            while (reads.getCount() > 0) {
              Thread.onSpinWait();
            }
            out.write(bytes, from, length);
          }
        };
    Logging.configure(Logging.Format.TEXT, "info", stuck);
    for (int i = 0; i < 20_000; i++) {
      ACCESS.info("line {}", i);
    }
    reads.countDown();

    List<String> lines = lines();
    assertThat(lines.size()).isBetween(1_000, 9_000);
    assertThat(lines.subList(0, 2)).containsExactly("line 0", "line 1");
  }

  @Test
  void unknownLevelIsRefused() {
    assertThatThrownBy(() -> Logging.configure(Logging.Format.TEXT, "loud", out))
        .hasMessage("loud (expected: trace, debug, info, warn, error or off)");
  }
}
