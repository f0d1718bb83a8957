package dev.idempotency.gateway.http;

/**
 * A whole response, held in memory.
 *
 * @param head status and end-to-end header fields; framing fields are made when it is written
 * @param body the content; not to be modified
 * @param trailers the trailer fields, mostly empty
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Response(ResponseHead head, byte[] body, Headers trailers) {

  public static final byte[] NO_BODY = {};

  public static Response of(int status, Headers headers, byte[] body) {
    return new Response(new ResponseHead(status, headers), body, new Headers());
  }

  public int status() {
    return head.status();
  }
}
