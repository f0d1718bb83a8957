package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.exchange.ResponseReceiver;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import io.netty.handler.codec.http2.Http2Headers;

/** How far the response of one stream has come, and whether that is HTTP (RFC 9113 §8.1). */
final class Http2Response {

  /** They are subject to no flow control: more of them than anybody needs are an attack. */
  private static final int MOST_INTERIM = 100;

  private final boolean toHead;
  private Headers trailers = new Headers();
  private int interim;
  private boolean begun;
  private boolean contentless;
  private long length = -1;
  private long received;

  /**
   * @param toHead whether the request's method is HEAD
   */
  Http2Response(boolean toHead) {
    this.toHead = toHead;
  }

  /** Whether any answer came, be it an interim one. */
  boolean isBegun() {
    return begun || interim > 0;
  }

  /** What came at the end. */
  Headers trailers() {
    return trailers;
  }

  /** Takes a field section and passes a head on; false where it is malformed. */
  boolean headers(Http2Headers fields, boolean last, ResponseReceiver to) {
    if (begun) {
      return last && trailers(fields);
    }
    ResponseHead head = Http2Fields.response(fields);
    if (head == null) {
      return false;
    }
    if (head.isInformational()) {
      if (last || ++interim > MOST_INTERIM) {
        return false;
      }
      to.informational(head);
      return true;
    }
    return begin(head, last, to);
  }

  private boolean begin(ResponseHead head, boolean last, ResponseReceiver to) {
    length = Http2Fields.contentLength(head);
    contentless = toHead || head.neverHasContent();
    if (length < -1 || (last && length > 0 && !contentless)) {
      return false;
    }
    begun = true;
    to.head(head, last && !contentless ? 0 : length);
    return true;
  }

  private boolean trailers(Http2Headers fields) {
    Headers read = Http2Fields.trailers(fields);
    if (read == null || !isComplete()) {
      return false;
    }
    trailers = read;
    return true;
  }

  /** Counts content; false where it comes too early, or is more or less than was announced. */
  boolean takes(int bytes, boolean last) {
    received += bytes;
    if (!begun || (contentless && received > 0) || (length >= 0 && received > length)) {
      return false;
    }
    return !last || isComplete();
  }

  private boolean isComplete() {
    return contentless || length < 0 || received == length;
  }
}
