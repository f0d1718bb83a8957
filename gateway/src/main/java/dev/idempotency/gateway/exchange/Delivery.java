package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.ArrayChunk;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A response on its way to the client, no faster than the client takes it: what was gathered goes
 * out piece by piece and stays charged until its last piece is with the connection, whose own
 * buffer is bounded.
 *
 * <p>Threading: event loop of the exchange only.
 */
final class Delivery {

  /** A body up to this size goes out at once. */
  static final int PIECE = BodyBudget.SMALL;

  /** To nobody. */
  static final Delivery GONE = new Delivery(ClientStream.GONE);

  private final ClientStream client;
  private byte[] gathered = Response.NO_BODY;
  private int at;
  private @Nullable Charge charge;
  private @Nullable ArrayDeque<Chunk> behind;
  private @Nullable Headers trailers;
  private @Nullable Runnable done;

  /** Asks for more of a response that is fed. */
  private @Nullable Runnable hungry;

  private boolean pumping;
  private boolean gone;

  Delivery(ClientStream client) {
    this.client = client;
    this.gone = client == ClientStream.GONE;
  }

  boolean isGone() {
    return gone;
  }

  /**
   * Begins a response.
   *
   * @param bytes what was gathered of its body so far; not to be changed any more
   * @param held the charge for them, taken over
   */
  void begin(ResponseHead head, long contentLength, byte[] bytes, @Nullable Charge held) {
    gathered = bytes;
    at = 0;
    charge = held;
    client.begin(head, contentLength);
    pump();
  }

  /**
   * Begins a response whose body is fed: each time the client has taken all of it, more is asked
   * for.
   *
   * @param held a charge for as long as it lasts, taken over
   * @param more asks for {@link #feed} or {@link #endFed}, now or later
   * @param then runs when the response is out, or the client is gone
   */
  void beginFed(ResponseHead head, long contentLength, Charge held, Runnable more, Runnable then) {
    charge = held;
    hungry = more;
    done = then;
    client.begin(head, contentLength);
  }

  /** More of the body; all that came before has been taken. */
  void feed(byte[] bytes) {
    if (!gone) {
      gathered = bytes;
      at = 0;
      pump();
    }
  }

  /** Ends a response that is fed. */
  void endFed(Headers fields) {
    if (!gone) {
      hungry = null;
      trailers = fields;
      pump();
    }
  }

  /** Takes the chunk over. */
  void write(Chunk chunk) {
    if (gone) {
      chunk.release();
    } else if (isBehind()) {
      if (behind == null) {
        behind = new ArrayDeque<>();
      }
      behind.add(chunk);
    } else {
      client.write(chunk);
    }
  }

  /**
   * Ends the response as soon as the client has taken what came before.
   *
   * @param then runs when the response is out, or the client is gone
   */
  void end(Headers fields, Runnable then) {
    if (gone) {
      then.run();
      return;
    }
    trailers = fields;
    done = then;
    pump();
  }

  void flush() {
    client.flush();
  }

  /** Whether the client takes more. */
  boolean isWritable() {
    return gone || (!isBehind() && client.isWritable());
  }

  /** Whether something waits for the client to take more. */
  boolean isBehind() {
    return at < gathered.length || (behind != null && !behind.isEmpty());
  }

  /** Hands out as much as the client takes; called again whenever it takes more. */
  void pump() {
    // A flush may say on the way that there is room again.
    if (pumping || gone) {
      return;
    }
    pumping = true;
    try {
      do {
        while (isBehind() && hasRoom()) {
          handOut();
        }
      } while (asksForMore());
    } finally {
      pumping = false;
    }
    if (!gone && !isBehind() && hungry == null) {
      free();
      finish();
    }
  }

  /** What is fed at once goes out in the same loop: a long response must not make a deep stack. */
  private boolean asksForMore() {
    Runnable more = hungry;
    // Once for each piece: a client that takes more while more is being read asks for nothing.
    if (gone || more == null || isBehind() || gathered.length == 0) {
      return false;
    }
    gathered = Response.NO_BODY;
    at = 0;
    client.flush();
    more.run();
    return true;
  }

  private boolean hasRoom() {
    if (!gone && !client.isWritable()) {
      client.flush();
    }
    return !gone && client.isWritable();
  }

  private void handOut() {
    if (at < gathered.length) {
      int length = Math.min(PIECE, gathered.length - at);
      client.write(new ArrayChunk(gathered, at, length));
      at += length;
    } else if (behind != null) {
      client.write(behind.remove());
    }
  }

  private void finish() {
    Headers fields = trailers;
    if (fields != null) {
      trailers = null;
      client.end(fields);
      client.flush();
      told();
    }
  }

  private void told() {
    Runnable then = done;
    done = null;
    if (then != null) {
      then.run();
    }
  }

  /** Takes back a response of which nothing is out yet; false where it is too late. */
  boolean takeBack() {
    if (!client.takeBack()) {
      return false;
    }
    free();
    return true;
  }

  /** The client is gone, or its response is cut: what waits for it is freed. */
  void drop() {
    gone = true;
    free();
    told();
  }

  private void free() {
    hungry = null;
    gathered = Response.NO_BODY;
    at = 0;
    if (charge != null) {
      charge.release();
      charge = null;
    }
    if (behind != null) {
      behind.forEach(Chunk::release);
      behind.clear();
    }
  }
}
