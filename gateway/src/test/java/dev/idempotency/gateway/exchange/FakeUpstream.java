package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.RequestHead;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** An upstream that connects and answers when a test says so. */
final class FakeUpstream implements Upstream {

  private final ArrayDeque<Acquirer> waiting = new ArrayDeque<>();

  @Override
  public void acquire(Acquirer acquirer) {
    waiting.add(acquirer);
  }

  int waiting() {
    return waiting.size();
  }

  /** Gives the oldest caller a connection. */
  Connection connect() {
    return connect(connection -> {});
  }

  /** The same with a connection that was changed before. */
  Connection connect(Consumer<Connection> change) {
    Connection connection = new Connection(true);
    change.accept(connection);
    waiting.remove().acquired(connection);
    return connection;
  }

  /** Gives the oldest caller a connection that dies before anything is sent on it. */
  Connection connectDead() {
    Connection connection = new Connection(false);
    waiting.remove().acquired(connection);
    return connection;
  }

  void refuse(Refusal refusal) {
    waiting.remove().refused(refusal);
  }

  /** A connection that writes down what happens to it. */
  static final class Connection implements UpstreamConnection {

    private final boolean alive;
    private final List<ResponseReceiver> receivers = new ArrayList<>();
    private final List<RequestHead> heads = new ArrayList<>();
    private byte[] body = {};
    private long announced;
    private boolean ended;
    private boolean writable = true;
    private boolean givenBack;
    private boolean cancelled;
    private boolean paused;
    private boolean failing;

    Connection(boolean alive) {
      this.alive = alive;
    }

    boolean isSent() {
      return !heads.isEmpty();
    }

    RequestHead head() {
      return heads.get(0);
    }

    byte[] body() {
      return body.clone();
    }

    String text() {
      return new String(body, StandardCharsets.ISO_8859_1);
    }

    /** What was said of the length; -1 for chunked. */
    long announced() {
      return announced;
    }

    /** Whether the request was ended as it should be. */
    boolean isEnded() {
      return ended;
    }

    /** From now on every write fails before a byte has left. */
    void failsToWrite() {
      failing = true;
    }

    void writable(boolean value) {
      writable = value;
    }

    boolean isGivenBack() {
      return givenBack;
    }

    boolean isCancelled() {
      return cancelled;
    }

    boolean isPaused() {
      return paused;
    }

    /** Who hears the response. */
    ResponseReceiver receiver() {
      return receivers.get(0);
    }

    @Override
    public boolean send(RequestHead head, byte[] content, ResponseReceiver receiver) {
      if (!alive) {
        return false;
      }
      heads.add(head);
      body = content.clone();
      receivers.add(receiver);
      return true;
    }

    @Override
    public boolean begin(RequestHead head, long contentLength, ResponseReceiver receiver) {
      announced = contentLength;
      return send(head, new byte[0], receiver);
    }

    @Override
    public void write(Chunk chunk) {
      if (failing) {
        receiver().failed(ResponseReceiver.Failure.NOT_PROCESSED);
        chunk.release();
        return;
      }
      byte[] longer = Arrays.copyOf(body, body.length + chunk.length());
      chunk.copyTo(longer, body.length);
      body = longer;
      chunk.release();
    }

    @Override
    public void end() {
      ended = true;
    }

    @Override
    public void flush() {}

    @Override
    public boolean isWritable() {
      return writable;
    }

    @Override
    public void pauseResponse() {
      paused = true;
    }

    @Override
    public void resumeResponse() {
      paused = false;
    }

    @Override
    public void cancel() {
      cancelled = true;
    }

    @Override
    public void giveBack() {
      givenBack = true;
    }
  }
}
