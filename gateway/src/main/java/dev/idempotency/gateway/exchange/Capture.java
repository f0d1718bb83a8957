package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.Outcome;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A response on its way in: kept for the record as far as limit and budget allow, and passed on at
 * once where the route streams or where it turns out too large to be kept.
 */
final class Capture {

  private final ResponseHead head;
  private final long contentLength;
  private final Outcome outcome;
  private final boolean saidSo;
  private final BodyBuffer buffer;
  private boolean overflown;
  private boolean begun;
  private boolean kept;

  /**
   * @param head the end-to-end head
   * @param saidSo whether the upstream named the outcome itself
   */
  Capture(
      ResponseHead head, long contentLength, Outcome outcome, boolean saidSo, BodyBuffer buffer) {
    this.head = head;
    this.contentLength = contentLength;
    this.outcome = outcome;
    this.saidSo = saidSo;
    this.buffer = buffer;
  }

  ResponseHead head() {
    return head;
  }

  Outcome outcome() {
    return outcome;
  }

  boolean saidSo() {
    return saidSo;
  }

  /** Whether the client has got the head already. */
  boolean isBegun() {
    return begun;
  }

  /** From now on the client gets the response as it comes. */
  void begin(ClientStream client) {
    if (begun || client == ClientStream.GONE) {
      return;
    }
    begun = true;
    // The edge adds framing to what it is given; the record gets none of that.
    client.begin(new ResponseHead(head.status(), head.headers().copy()), contentLength);
    if (buffer.length() > 0) {
      client.write(new ArrayChunk(buffer.toByteArray()));
    }
  }

  /** Takes the chunk over. */
  void take(Chunk chunk, ClientStream client) {
    if (!overflown && buffer.add(chunk) != BodyBuffer.Addition.ADDED) {
      overflown = true;
      begin(client);
      // At once: what is not kept takes no memory.
      buffer.release();
    }
    if (begun) {
      client.write(chunk);
    } else {
      chunk.release();
    }
  }

  /** What to store, or null where it was too much. */
  @Nullable StoredResponse stored(Headers trailers, Set<String> keptFields) {
    return overflown
        ? null
        : ResponseFields.stored(head, buffer.toByteArray(), trailers, keptFields);
  }

  Response response(Headers trailers) {
    return new Response(head, buffer.toByteArray(), trailers);
  }

  Result result() {
    return switch (outcome) {
      case COMPLETED -> overflown ? Result.NOT_KEPT : Result.COMPLETED;
      case RELEASED -> Result.RELEASED;
      case UNKNOWN -> Result.UNKNOWN;
    };
  }

  /** The bytes are still needed after the exchange. */
  void keepMemory() {
    kept = true;
  }

  void releaseUnlessKept() {
    if (!kept) {
      buffer.release();
    }
  }

  void releaseMemory() {
    buffer.release();
  }

  /** Bytes that were gathered, on their way to the client. */
  private record ArrayChunk(@SuppressWarnings("ArrayRecordComponent") byte[] bytes)
      implements Chunk {
    @Override
    public int length() {
      return bytes.length;
    }

    @Override
    public void copyTo(byte[] target, int offset) {
      System.arraycopy(bytes, 0, target, offset, bytes.length);
    }

    @Override
    public void release() {}
  }
}
