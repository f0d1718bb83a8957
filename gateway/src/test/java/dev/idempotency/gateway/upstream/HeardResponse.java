package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.ResponseReceiver;
import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Writes down what comes back for one exchange, and checks that it comes in order. */
final class HeardResponse implements ResponseReceiver {

  private final CompletableFuture<String> ended = new CompletableFuture<>();
  private final List<String> events = new ArrayList<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private volatile int bytes;
  private volatile @Nullable ResponseHead head;
  private volatile Headers trailers = new Headers();

  /** Status and body, or the name of a failure. */
  String result() {
    return ended.orTimeout(15, TimeUnit.SECONDS).join();
  }

  boolean isEnded() {
    return ended.isDone();
  }

  boolean hasHead() {
    return head != null;
  }

  ResponseHead head() {
    return Objects.requireNonNull(head);
  }

  Headers trailers() {
    return trailers;
  }

  /** Number of bytes of content that came. */
  int bytes() {
    return bytes;
  }

  List<String> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  private void event(String what) {
    if (ended.isDone() && !what.equals("flush")) {
      throw new IllegalStateException(what + " after the end");
    }
    synchronized (events) {
      events.add(what);
    }
  }

  @Override
  public void informational(ResponseHead interim) {
    event("informational " + interim.status());
  }

  @Override
  public void head(ResponseHead received, long contentLength) {
    head = received;
    event("head " + received.status() + " " + contentLength);
  }

  @Override
  public void chunk(Chunk chunk) {
    byte[] copy = new byte[chunk.length()];
    chunk.copyTo(copy, 0);
    chunk.release();
    event("chunk");
    body.writeBytes(copy);
    bytes = body.size();
  }

  @Override
  public void end(Headers received) {
    event("end");
    trailers = received;
    ended.complete(head().status() + " " + body.toString(StandardCharsets.ISO_8859_1));
  }

  @Override
  public void flush() {
    event("flush");
  }

  @Override
  public void writable() {
    event("writable");
  }

  @Override
  public void overdue() {
    event("overdue");
  }

  @Override
  public void failed(Failure failure) {
    event("failed");
    ended.complete(failure.name());
  }
}
