package dev.idempotency.gateway.idempotency;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.http.ResponseHead;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The response that replays serve.
 *
 * @param status the status code
 * @param headers the end-to-end fields that are kept, without framing fields
 * @param body the bytes as the upstream sent them; not to be modified
 * @param trailers the trailer fields
 */
@SuppressWarnings("ArrayRecordComponent") // equals, hashCode and toString are written out
public record StoredResponse(int status, Headers headers, byte[] body, Headers trailers) {

  /**
   * The one field of a response that lies in an envelope, its body. No upstream can send a field of
   * that name (RFC 9110 §5.1).
   */
  public static final String SEALED = ":envelope";

  /** Whether this is an envelope: nothing that anybody may be shown. */
  public boolean isSealed() {
    return headers.size() == 1 && headers.name(0).equals(SEALED);
  }

  /** The response to send, with header fields of its own. */
  public Response toResponse() {
    return new Response(new ResponseHead(status, headers.copy()), body, trailers);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof StoredResponse that
        && that.status == status
        && that.headers.equals(headers)
        && Arrays.equals(that.body, body)
        && that.trailers.equals(trailers);
  }

  @Override
  public int hashCode() {
    return 31 * status + Arrays.hashCode(body);
  }

  /** No values: they may be secrets. */
  @Override
  public String toString() {
    return "StoredResponse[" + status + ", " + headers + ", " + body.length + " bytes]";
  }
}
