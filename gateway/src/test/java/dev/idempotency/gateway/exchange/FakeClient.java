package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A client that writes down what it is told. */
final class FakeClient implements ClientStream {

  private final List<ResponseHead> heads = new ArrayList<>();
  private final List<Integer> interim = new ArrayList<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private boolean ended;
  private boolean aborted;
  private boolean writable = true;
  private boolean wanted;
  private boolean paused;
  private boolean backTaking;
  private int pieces;

  boolean isAnswered() {
    return ended;
  }

  boolean hasHead() {
    return !heads.isEmpty();
  }

  boolean isBodyWanted() {
    return wanted;
  }

  boolean isBodyPaused() {
    return paused;
  }

  /** From now on nothing is out before it is flushed. */
  void takesBack() {
    backTaking = true;
  }

  /** Lets that many pieces through and is full then. */
  void writable(int more) {
    writable = more > 0;
    pieces = more;
  }

  boolean isAborted() {
    return aborted;
  }

  int status() {
    return heads.get(0).status();
  }

  Headers headers() {
    return heads.get(0).headers();
  }

  String text() {
    return body.toString(StandardCharsets.ISO_8859_1);
  }

  List<Integer> interim() {
    return interim;
  }

  void writable(boolean value) {
    writable = value;
  }

  /** The last segment of the problem's type. */
  String problem() {
    String text = text();
    int at = text.indexOf('#') + 1;
    return text.substring(at, text.indexOf('"', at));
  }

  @Override
  public void wantBody() {
    wanted = true;
  }

  @Override
  public void pauseBody() {
    paused = true;
  }

  @Override
  public void resumeBody() {
    paused = false;
  }

  @Override
  public void informational(ResponseHead head) {
    interim.add(head.status());
  }

  @Override
  public void respond(Response response) {
    begin(response.head(), response.body().length);
    body.writeBytes(response.body());
    end(response.trailers());
  }

  @Override
  public void begin(ResponseHead head, long contentLength) {
    if (!heads.isEmpty()) {
      throw new IllegalStateException("answered twice");
    }
    // As the real edge does: framing is added to what is given.
    head.headers().add(contentLength < 0 ? "Transfer-Encoding" : "Content-Length", "framing");
    heads.add(head);
  }

  @Override
  public void write(Chunk chunk) {
    byte[] bytes = new byte[chunk.length()];
    chunk.copyTo(bytes, 0);
    body.writeBytes(bytes);
    chunk.release();
    if (pieces > 0 && --pieces == 0) {
      writable = false;
    }
  }

  @Override
  public void end(Headers trailers) {
    ended = true;
  }

  @Override
  public void flush() {}

  /** What it is told is out at once. */
  @Override
  public boolean takeBack() {
    if (backTaking) {
      heads.clear();
      body.reset();
    }
    return backTaking;
  }

  @Override
  public void abort() {
    aborted = true;
  }

  @Override
  public boolean isWritable() {
    return writable;
  }
}
