package dev.idempotency.gateway.exchange;

import static dev.idempotency.gateway.exchange.Stage.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a response says of when and where it was made: the first one, and each replay of it. */
class ReplayFieldsTest {

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String TRACE_PARENT = "00-" + TRACE + "-00f067aa0ba902b7-01";

  /** Runs an operation and gives the replay that a later duplicate gets. */
  private static FakeClient replay(Stage stage, FakeClient first) {
    stage.scheduler.advance(Duration.ofMinutes(3));
    FakeClient second = stage.whole("k", "{}").client();
    stage.store.existing(1, new Completed(stage.store.completed().get(0)));
    assertThat(second.headers().get("Idempotent-Replayed")).isEqualTo("true");
    assertThat(second.text()).isEqualTo(first.text());
    return second;
  }

  private static FakeClient first(Stage stage, String[] request, String... response) {
    Stage.Call call = stage.whole("k", "{}", request);
    stage.store.acquire();
    answer(stage.upstream.connect().receiver(), 201, "made", response);
    stage.store.done();
    return call.client();
  }

  private static String[] fields(String... fields) {
    return fields;
  }

  @Test
  void replayHasTheDateOfTheUpstreamsResponse() {
    Stage stage = Stage.open();
    String date = "Sun, 06 Nov 1994 08:49:37 GMT";
    FakeClient first = first(stage, fields(), "Date", date);

    assertThat(first.headers().all("Date")).containsExactly(date);
    assertThat(replay(stage, first).headers().all("Date")).containsExactly(date);
  }

  @Test
  void replayOfAResponseWithoutADateHasTheTimeAtWhichItCame() {
    Stage stage = Stage.open();
    FakeClient first = first(stage, fields());

    assertThat(first.headers().all("Date")).containsExactly(Stage.DATE);
    assertThat(replay(stage, first).headers().all("Date")).containsExactly(Stage.DATE);
  }

  @Test
  void replayNamesTheTraceOfTheFirstRequest() {
    Stage stage = Stage.open();
    FakeClient first = first(stage, fields("traceparent", TRACE_PARENT));

    assertThat(first.headers().contains("Idempotency-Original-Trace")).isFalse();
    assertThat(replay(stage, first).headers().all("Idempotency-Original-Trace"))
        .containsExactly(TRACE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7-01",
        "<script>",
        ""
      })
  void traceThatIsNoneIsNotNamed(String traceParent) {
    Stage stage = Stage.open();
    FakeClient first = first(stage, fields("traceparent", traceParent));

    assertThat(replay(stage, first).headers().contains("Idempotency-Original-Trace")).isFalse();
  }

  @Test
  void traceOfALaterVersionIsNamed() {
    Headers request = Headers.of("TraceParent", "01-" + TRACE + "-00f067aa0ba902b7-01-more");
    assertThat(TraceParent.traceId(request)).isEqualTo(TRACE);
  }

  @Test
  void requestOfTwoTracesNamesNone() {
    Headers request = Headers.of("traceparent", TRACE_PARENT, "traceparent", TRACE_PARENT);
    assertThat(TraceParent.traceId(request)).isNull();
  }

  @Test
  void firstResponseAndReplaySayTheSameOfWhenTheRecordEnds() {
    Stage stage = Stage.with().expires().open();
    FakeClient first = first(stage, fields());

    // The retention is an hour.
    assertThat(first.headers().all("Idempotency-Expires"))
        .containsExactly("Thu, 01 Jan 1970 01:00:01 GMT");
    assertThat(replay(stage, first).headers().all("Idempotency-Expires"))
        .containsExactly("Thu, 01 Jan 1970 01:00:01 GMT");
  }

  @Test
  void endOfTheRecordIsNotTriedToBeSaidOfAResponseThatIsOut() {
    Stage stage = Stage.with().expires().streaming().open();
    Stage.Call call = stage.acquired();
    Connection connection = stage.upstream.connect();
    connection.receiver().head(new ResponseHead(200, new Headers()), 1);
    connection.receiver().flush();
    connection.receiver().chunk(new TextChunk("x"));
    connection.receiver().end(new Headers());
    stage.store.done();

    assertThat(call.client().headers().contains("Idempotency-Expires")).isFalse();
    assertThat(replay(stage, call.client()).headers().contains("Idempotency-Expires")).isTrue();
  }

  @Test
  void responseThatIsReleasedHasNoEnd() {
    Stage stage = Stage.with().expires().open();
    FakeClient first = first(stage, fields(), "Idempotency-Outcome", "released");

    assertThat(first.headers().contains("Idempotency-Expires")).isFalse();
  }

  @Test
  void whatTheUpstreamSaysInTheGatewaysNameIsRemoved() {
    Stage stage = Stage.with().expires().open();
    String[] forged = {
      "idempotency-expires", "forged",
      "idempotency-original-trace", "forged",
      "idempotency-key-derived", "forged"
    };
    FakeClient first = first(stage, fields("traceparent", TRACE_PARENT), forged);

    first.headers().forEach((name, value) -> assertThat(value).isNotEqualTo("forged"));
    FakeClient replay = replay(stage, first);
    assertThat(replay.headers().all("Idempotency-Expires")).hasSize(1);
    assertThat(replay.headers().all("Idempotency-Original-Trace")).containsExactly(TRACE);
    assertThat(replay.headers().contains("Idempotency-Key-Derived")).isFalse();
  }
}
