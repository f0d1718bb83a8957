package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.util.List;

/**
 * SHA-256, or HMAC-SHA-256 where the route has a secret, over method, path, query, media type,
 * content coding, the headers that the route lists, and the body.
 *
 * <p>A body of JSON, form or multipart counts as data where it can be read so and the route does
 * not want it raw; every other body counts as the bytes that came. A mark before the body tells the
 * forms apart, so a raw body never equals a canonical one. Codings that are known are undone first,
 * within the rule's limit, and count by their names.
 *
 * <p>Fingerprints of an earlier version or secret are made only when a record has one to compare
 * with.
 *
 * <p>Threading: safe from any thread; each thread keeps at most some 90 KiB of working memory.
 */
public final class RequestFingerprinter implements Fingerprinter {

  /** Newest version of the algorithm; another encoding or form needs another number. */
  public static final int VERSION = VersionTwo.NUMBER;

  final FingerprintRule rule;
  final VersionOne one;
  final VersionTwo two;

  /** Of all fingerprints that are recognised; the first one's are made. */
  final List<HashKey> keys;

  private RequestFingerprinter(FingerprintRule rule) {
    this.rule = rule;
    this.one = new VersionOne(rule);
    this.two = new VersionTwo(rule);
    this.keys = HashKey.of(rule.secrets());
  }

  /** The fingerprinter of a route with that rule. */
  public static RequestFingerprinter create(FingerprintRule rule) {
    return new RequestFingerprinter(rule);
  }

  @Override
  public Fingerprints fingerprint(RequestHead head, byte[] body) {
    Fingerprint current =
        rule.version() == VersionOne.NUMBER
            ? one.of(head, body, keys.subList(0, 1)).get(0)
            : two.of(head, body, keys.get(0));
    return current == null
        ? Fingerprints.TOO_LARGE
        : new BodyFingerprints(this, head, body, current);
  }

  @Override
  public Running begin(RequestHead head) {
    return new StreamedFingerprint(this, head);
  }
}
