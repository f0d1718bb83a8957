package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import java.util.ArrayDeque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request whose caller is being asked about: nothing of its body is read and the store is not
 * touched. It becomes the exchange that the answer opens.
 */
final class PendingExchange implements Exchange {

  private final Exchanges exchanges;
  private final Course course;
  private final ClientStream client;
  private @Nullable Exchange opened;

  /** What comes while the exchange is being opened, which asks for it. */
  private @Nullable ArrayDeque<Chunk> early;

  private boolean opening;
  private boolean bodyEnded;
  private boolean gone;
  private boolean over;

  PendingExchange(Exchanges exchanges, Course course, ClientStream client) {
    this.exchanges = exchanges;
    this.course = course;
    this.client = client;
    exchanges.opened(this);
  }

  /** The exchange to go on with: what was opened, if that is known already. */
  Exchange current() {
    Exchange real = opened;
    return real == null ? this : real;
  }

  /** The answer is there; where nobody waits for it any more, nothing is opened. */
  void open(Supplier<Exchange> opener) {
    if (over || opening) {
      return;
    }
    opening = true;
    exchanges.decided(this);
    Exchange real = opener.get();
    opened = real;
    catchUp(real);
  }

  /** The client's edge may deliver at once what was asked for, before there is who takes it. */
  private void catchUp(Exchange real) {
    ArrayDeque<Chunk> held = early;
    if (held != null) {
      held.forEach(real::body);
      held.clear();
    }
    if (gone) {
      real.clientGone();
      return;
    }
    if (bodyEnded) {
      real.bodyEnd();
    }
    real.flush();
  }

  @Override
  public void body(Chunk chunk) {
    if (opened != null) {
      opened.body(chunk);
    } else if (opening) {
      hold(chunk);
    } else {
      chunk.release();
    }
  }

  private void hold(Chunk chunk) {
    if (early == null) {
      early = new ArrayDeque<>();
    }
    early.add(chunk);
  }

  @Override
  public void bodyEnd() {
    bodyEnded = true;
    if (opened != null) {
      opened.bodyEnd();
    }
  }

  @Override
  public void flush() {
    if (opened != null) {
      opened.flush();
    }
  }

  @Override
  public void clientGone() {
    gone = true;
    if (opened != null) {
      opened.clientGone();
    } else if (!opening) {
      end(Result.CLIENT_GONE, 0);
    }
  }

  @Override
  public void requestBroken(int status) {
    if (opened != null) {
      opened.requestBroken(status);
    } else {
      course.requestBroken(status);
      clientGone();
    }
  }

  @Override
  public void clientWritable() {
    if (opened != null) {
      opened.clientWritable();
    }
  }

  @Override
  public boolean isOver() {
    return opened == null ? over : opened.isOver();
  }

  /** The gateway stops, and surely nothing was sent. */
  void abandon() {
    var answer = course.render(Problems.shuttingDown());
    client.respond(answer);
    end(Result.SHUTTING_DOWN, answer.status());
  }

  private void end(Result result, int status) {
    if (!over) {
      over = true;
      exchanges.decided(this);
      course.end(result, status);
    }
  }
}
