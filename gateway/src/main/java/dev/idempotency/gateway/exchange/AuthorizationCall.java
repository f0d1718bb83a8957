package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.exchange.Authorizer.Decision;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One question to an authorisation service, and its answer. */
final class AuthorizationCall implements Upstream.Acquirer, ResponseReceiver {

  /** Most bytes of a refusal that are passed on. */
  private static final int MOST_BODY = 64 << 10;

  /** Connections that may turn out dead before anything is sent on them. */
  private static final int MOST_TRIES = 3;

  private final Upstream upstream;
  private final RequestHead question;
  private final boolean open;
  private final Set<String> wanted;
  private final long until;
  private final Consumer<Decision> told;
  private @Nullable UpstreamConnection connection;
  private @Nullable ResponseHead head;
  private byte[] body = Response.NO_BODY;
  private boolean tooLong;
  private int tries;
  private boolean askedAgain;
  private boolean decided;

  /**
   * @param open whether the request goes on where there is no answer
   * @param wanted names, in small letters, of the fields that a yes is told with
   * @param until when its time is up, in nanoseconds of the scheduler
   * @param told hears the decision, once
   */
  AuthorizationCall(
      Upstream upstream,
      RequestHead question,
      boolean open,
      Set<String> wanted,
      long until,
      Consumer<Decision> told) {
    this.upstream = upstream;
    this.question = question;
    this.open = open;
    this.wanted = wanted;
    this.until = until;
    this.told = told;
  }

  void begin() {
    upstream.acquire(this);
  }

  long until() {
    return until;
  }

  boolean isDecided() {
    return decided;
  }

  @Override
  public void acquired(UpstreamConnection acquired) {
    if (decided) {
      acquired.giveBack();
      return;
    }
    connection = acquired;
    if (!acquired.send(question, Response.NO_BODY, this)) {
      connection = null;
      if (++tries > MOST_TRIES) {
        refused(Upstream.Refusal.UNREACHABLE);
      } else {
        begin();
      }
    }
  }

  @Override
  public void refused(Upstream.Refusal refusal) {
    unanswered("the authorisation service can't be reached");
  }

  @Override
  public void informational(ResponseHead interim) {}

  @Override
  public void head(ResponseHead answer, long contentLength) {
    head = answer;
  }

  @Override
  public void chunk(Chunk chunk) {
    int length = body.length;
    if (length + chunk.length() <= MOST_BODY) {
      body = Arrays.copyOf(body, length + chunk.length());
      chunk.copyTo(body, length);
      chunk.release();
    } else {
      chunk.release();
      // What it said is known; nobody waits for the rest.
      tooLong = true;
      cancel();
      answered();
    }
  }

  @Override
  public void end(Headers trailers) {
    connection = null;
    answered();
  }

  @Override
  public void flush() {}

  @Override
  public void writable() {}

  /** Its time is up, or the upstream's own. */
  @Override
  public void overdue() {
    if (!decided) {
      cancel();
      failed("the authorisation service did not answer in time");
    }
  }

  @Override
  public void failed(Failure failure) {
    connection = null;
    boolean wasted = failure == Failure.CLOSED || failure == Failure.NOT_PROCESSED;
    if (wasted && head == null && !askedAgain && !decided) {
      // A connection that had been at rest was closed by the other side; a question does no harm.
      askedAgain = true;
      begin();
    } else {
      failed("the authorisation service did not answer");
    }
  }

  /** A no that was cut off is a no. */
  private void failed(String reason) {
    if (head != null && isNo(head.status())) {
      tooLong = true;
      answered();
    } else {
      unanswered(reason);
    }
  }

  private static boolean isNo(int status) {
    return status == 401 || status == 403;
  }

  private void answered() {
    ResponseHead said = head;
    if (said == null) {
      unanswered("the authorisation service did not answer");
    } else if (said.status() >= 200 && said.status() < 300) {
      decide(new Decision.Allowed(wanted(said)));
    } else if (isNo(said.status())) {
      decide(new Decision.Denied(refusal(said)));
    } else {
      // A client may be able to provoke what blames the request, such as 400 or 431.
      boolean broken = said.status() >= 500;
      decide(
          new Decision.Unavailable(
              "the authorisation service answered neither yes nor no", open && broken));
    }
  }

  private Headers wanted(ResponseHead said) {
    Headers fields = ResponseFields.endToEnd(said).headers();
    fields.removeIf((name, value) -> !wanted.contains(name.toLowerCase(Locale.ROOT)));
    return fields;
  }

  /** As it came, or without its body where that is too long or was cut off. */
  private Response refusal(ResponseHead said) {
    ResponseHead sent = ResponseFields.endToEnd(said);
    if (tooLong) {
      sent.headers().removeIf((name, value) -> name.regionMatches(true, 0, "Content-", 0, 8));
    }
    return new Response(sent, tooLong ? Response.NO_BODY : body, new Headers());
  }

  private void unanswered(String reason) {
    decide(new Decision.Unavailable(reason, open));
  }

  private void decide(Decision decision) {
    if (!decided) {
      decided = true;
      told.accept(decision);
    }
  }

  private void cancel() {
    if (connection != null) {
      connection.cancel();
      connection = null;
    }
  }
}
