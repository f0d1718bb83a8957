package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HttpDate;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.OutcomePolicy;
import dev.idempotency.gateway.idempotency.ResponsePieces;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One question to an upstream about an operation whose outcome is unknown, and its answer. Only a
 * whole answer counts; everything else tells nothing.
 */
final class ProbeCall implements Upstream.Acquirer, ResponseReceiver {

  /** By which an upstream says what status the operation's response had. */
  private static final String STATUS = "Idempotency-Status";

  /** Of an answer like these a part is elsewhere: no response of an operation (RFC 9110 §15). */
  private static final Set<Integer> INCOMPLETE = Set.of(206, 304);

  /**
   * What is said with these is said of the question, by whoever is before the service: also {@code
   * released}.
   */
  private static final Set<Integer> OF_THE_QUESTION =
      Set.of(401, 403, 407, 408, 421, 425, 429, 502, 503, 504);

  private static final Set<Integer> BODILESS = Set.of(204, 205, 304);

  private static final int MOST_TRIES = 3;

  private final Exchanges exchanges;
  private final Route route;
  private final ProbeRule rule;
  private final RequestHead question;
  private final byte[] questionBody;
  private final Consumer<ProbeFinding> told;
  private @Nullable UpstreamConnection connection;
  private @Nullable ResponseHead head;
  private List<String> nominated = List.of();
  private byte[] body = Response.NO_BODY;
  private int length;
  private int tries;
  private boolean over;

  /**
   * @param told hears the finding, once
   */
  ProbeCall(
      Exchanges exchanges,
      Route route,
      ProbeRule rule,
      RequestHead question,
      byte[] questionBody,
      Consumer<ProbeFinding> told) {
    this.exchanges = exchanges;
    this.route = route;
    this.rule = rule;
    this.question = question;
    this.questionBody = questionBody;
    this.told = told;
  }

  void begin() {
    exchanges.scheduler.schedule(this::overdue, rule.timeout());
    rule.upstream().acquire(this);
  }

  @Override
  public void acquired(UpstreamConnection acquired) {
    if (over) {
      acquired.giveBack();
      return;
    }
    connection = acquired;
    if (!acquired.send(question, questionBody, this)) {
      connection = null;
      if (++tries > MOST_TRIES) {
        nothing("the upstream can't be reached");
      } else {
        rule.upstream().acquire(this);
      }
    }
  }

  @Override
  public void refused(Upstream.Refusal refusal) {
    nothing(refusal.text());
  }

  @Override
  public void informational(ResponseHead interim) {}

  @Override
  public void head(ResponseHead answer, long contentLength) {
    head = answer;
    nominated = ResponseFields.nominated(answer);
  }

  @Override
  public void chunk(Chunk chunk) {
    int size = chunk.length();
    // In one piece, whatever the route allows: nobody but this holds it.
    if (size > Math.min(route.responseLimit(), ResponsePieces.SIZE) - length) {
      chunk.release();
      cancel();
      nothing("the answer is longer than a response that is kept");
      return;
    }
    if (length + size > body.length) {
      body = Arrays.copyOf(body, Math.max(length + size, 2 * length));
    }
    chunk.copyTo(body, length);
    length += size;
    chunk.release();
  }

  @Override
  public void end(Headers trailers) {
    connection = null;
    ResponseHead said = head;
    if (said != null) {
      tell(finding(said, trailers));
    } else {
      nothing("there was no answer");
    }
  }

  private ProbeFinding finding(ResponseHead said, Headers trailers) {
    if (INCOMPLETE.contains(said.status())) {
      return new ProbeFinding.Nothing("it answered " + said.status());
    }
    String age = said.headers().get("Age");
    if (age != null && !age.trim().equals("0")) {
      // It may say of an earlier moment that the operation is not there.
      return new ProbeFinding.Nothing("the answer came from a cache");
    }
    boolean speaks =
        said.headers().contains(OutcomePolicy.HEADER) && !OF_THE_QUESTION.contains(said.status());
    Outcome word = speaks ? OutcomePolicy.said(said) : null;
    if (speaks && word == null) {
      return new ProbeFinding.Nothing("its " + OutcomePolicy.HEADER + " says neither");
    }
    if (word == Outcome.RELEASED || (word == null && rule.never().contains(said.status()))) {
      return new ProbeFinding.Never();
    }
    if (word != Outcome.COMPLETED && !rule.completed().contains(said.status())) {
      return new ProbeFinding.Nothing("it answered " + said.status());
    }
    ResponseHead shown = shown(said);
    StoredResponse copy =
        ResponseFields.stored(
            shown,
            // Behind such a head a body would be taken for the next response.
            BODILESS.contains(shown.status()) ? Response.NO_BODY : Arrays.copyOf(body, length),
            ResponseFields.trailers(trailers, nominated),
            route.copy());
    return copy == null
        ? new ProbeFinding.Nothing("what is to be taken out of the answer can't be found in it")
        : new ProbeFinding.Completed(copy);
  }

  /** As the operation's own response would have been shown. */
  private ResponseHead shown(ResponseHead said) {
    ResponseHead shown = ResponseFields.endToEnd(said);
    Headers fields = shown.headers();
    int status = status(said);
    ForwardedFields.remove(fields, Set.of(STATUS.toLowerCase(Locale.ROOT)));
    if (!fields.contains("Date")) {
      fields.add("Date", HttpDate.now(exchanges.scheduler.currentTimeMillis()));
    }
    return new ResponseHead(status, fields);
  }

  private int status(ResponseHead said) {
    String own = said.headers().get(STATUS);
    if (own != null && own.matches("[2-5]\\d\\d")) {
      return Integer.parseInt(own);
    }
    return rule.status() == 0 ? said.status() : rule.status();
  }

  @Override
  public void flush() {}

  @Override
  public void writable() {}

  /** Its time is up, or the upstream's own. */
  @Override
  public void overdue() {
    if (!over) {
      cancel();
      nothing("it did not answer in time");
    }
  }

  @Override
  public void failed(Failure failure) {
    connection = null;
    nothing(failure.text());
  }

  private void cancel() {
    if (connection != null) {
      connection.cancel();
      connection = null;
    }
  }

  private void nothing(String why) {
    tell(new ProbeFinding.Nothing(why));
  }

  private void tell(ProbeFinding finding) {
    if (!over) {
      over = true;
      told.accept(finding);
    }
  }
}
