package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** What comes out of the decoder: for each request one head, then its body up to the last part. */
sealed interface Incoming {

  /**
   * The head of a request that is well-formed HTTP/1; what it means is judged later.
   *
   * @param length the body's bytes, 0 without a body, -1 where it is chunked
   */
  record Head(String method, String target, boolean isHttp10, Headers headers, long length)
      implements Incoming {

    /** Whether the client wants to go on using the connection (RFC 9112 §9.3). */
    boolean isPersistent() {
      return !headers.containsToken("Connection", "close")
          && (!isHttp10 || headers.containsToken("Connection", "keep-alive"));
    }

    /** Whether the body may wait for a 100 (RFC 9110 §10.1.1). */
    boolean expectsContinue() {
      return !isHttp10 && length != 0 && headers.contains("Expect");
    }
  }

  /**
   * A part of a request's body, without framing. The receiver owns the bytes.
   *
   * @param isLast whether the request ends with it
   */
  record Body(ByteBuf bytes, boolean isLast) implements Incoming {
    static final Body END = new Body(Unpooled.EMPTY_BUFFER, true);

    void release() {
      bytes.release();
    }
  }

  /**
   * Something that is not HTTP/1 as it is read here: where a request is due, or within a body. The
   * rest of the connection is thrown away.
   *
   * @param method the method where it is known, else empty
   */
  record Bad(String method, boolean isHttp10, Response answer) implements Incoming {}

  /** Gives back the memory of what nobody wants. */
  static void release(Incoming incoming) {
    if (incoming instanceof Body body) {
      body.release();
    }
  }
}
