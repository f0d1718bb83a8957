package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The first algorithm, kept to the bit so that its records are recognised: one hash over the frame
 * and the body. A JSON body counts in canonical form, every other one as the bytes that came. It
 * knows nothing of chosen members and parameters, and its fingerprints have no marks.
 *
 * <p>Threading: safe from any thread.
 */
final class VersionOne {

  static final int NUMBER = 1;

  private static final int RAW = 0;
  private static final int JSON = 1;

  /** Raw by the route's rule: without its length before it, which a body that streams lacks. */
  private static final int STREAMED = 2;

  private final FingerprintRule rule;
  private final @Nullable PointerTree ignored;

  VersionOne(FingerprintRule rule) {
    this.rule = rule;
    this.ignored = PointerTree.of(rule.ignore());
  }

  /** One fingerprint for each key. */
  List<Fingerprint> of(RequestHead head, byte[] body, List<HashKey> keys) {
    Workbench bench = Workbench.own();
    MediaType type = RequestFrame.singleMediaType(head.headers());
    boolean canonical =
        !rule.rawBody()
            && type != null
            && type.isJson()
            && !RequestFrame.isCoded(head.headers())
            && bench.json.canonicalize(body, ignored);
    byte[] content = canonical ? bench.json.bytes() : body;
    int length = canonical ? bench.json.length() : body.length;

    RequestFrame frame = bench.frame;
    putHead(frame, head, type, canonical);
    if (rule.rawBody()) {
      frame.putTag(STREAMED);
    } else {
      frame.putTag(canonical ? JSON : RAW);
      frame.putInt(length);
    }
    List<Fingerprint> made = new ArrayList<>(keys.size());
    for (HashKey key : keys) {
      byte[] hash = key.hash(bench.digest, frame.bytes(), frame.length(), content, length);
      made.add(new Fingerprint(NUMBER, hash));
    }
    bench.json.clear();
    return made;
  }

  /** The hash of a body that streams, begun. */
  RunningHash begin(RequestHead head, HashKey key) {
    RequestFrame frame = Workbench.own().frame;
    putHead(frame, head, RequestFrame.singleMediaType(head.headers()), false);
    frame.putTag(STREAMED);
    RunningHash hash = key.begin();
    hash.update(frame.bytes(), frame.length());
    return hash;
  }

  private void putHead(
      RequestFrame frame, RequestHead head, @Nullable MediaType type, boolean canonical) {
    frame.clear(); // an error may have left something there
    frame.putTag(NUMBER);
    frame.putText(head.method());
    frame.putText(head.path());
    frame.putText(head.query());
    frame.putMediaType(head.headers(), type, canonical);
    putCoding(frame, head.headers());
    frame.putListed(head.headers(), rule.headers());
  }

  private static void putCoding(RequestFrame frame, Headers headers) {
    if (RequestFrame.isCoded(headers)) {
      frame.putLines(headers, "content-encoding");
    } else {
      frame.putInt(0);
    }
  }
}
