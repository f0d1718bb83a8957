package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * SHA-256, or HMAC-SHA-256 where the route has a secret, over method, path, query, media type,
 * content coding, the headers that the route lists, and the body.
 *
 * <p>A JSON body counts in canonical form where it has one and the route does not want it raw;
 * every other body, and one with a content coding, counts as the bytes that came. A mark before the
 * body tells the two apart, so a raw body never equals a canonical one.
 *
 * <p>Threading: safe from any thread; each thread keeps at most some 70 KiB of working memory.
 */
public final class RequestFingerprinter implements Fingerprinter {

  /** Version of the algorithm; another encoding or canonical form needs another number. */
  public static final int VERSION = 1;

  private static final int RAW = 0;
  private static final int JSON = 1;

  /** Raw by the route's rule: without its length before it, which a body that streams lacks. */
  private static final int STREAMED = 2;

  private static final ThreadLocal<Workbench> WORKBENCH = ThreadLocal.withInitial(Workbench::new);

  private final FingerprintRule rule;
  private final @Nullable PointerTree ignored;

  /** Keyed once a thread, because looking an algorithm up costs more than hashing. */
  private final @Nullable ThreadLocal<Mac> mac;

  /** What a thread needs to make fingerprints, for all routes. */
  private static final class Workbench {
    final JsonCanonicalizer json = new JsonCanonicalizer();
    final RequestFrame frame = new RequestFrame();
    final MessageDigest digest = sha256();
  }

  private RequestFingerprinter(FingerprintRule rule) {
    this.rule = rule;
    this.ignored = PointerTree.of(rule.ignore());
    byte[] secret = rule.secret();
    this.mac = secret == null ? null : ThreadLocal.withInitial(() -> hmac(secret));
  }

  /** The fingerprinter of a route with that rule. */
  public static RequestFingerprinter create(FingerprintRule rule) {
    return new RequestFingerprinter(rule);
  }

  @Override
  public Fingerprints fingerprint(RequestHead head, byte[] body) {
    Workbench bench = WORKBENCH.get();
    MediaType type = singleMediaType(head.headers());
    boolean coded = isCoded(head.headers());
    boolean canonical =
        !rule.rawBody()
            && type != null
            && type.isJson()
            && !coded
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
    byte[] hash = hash(bench, content, length);
    bench.json.clear();
    return Fingerprints.only(new Fingerprint(VERSION, hash));
  }

  @Override
  public Running begin(RequestHead head) {
    RequestFrame frame = WORKBENCH.get().frame;
    putHead(frame, head, singleMediaType(head.headers()), false);
    frame.putTag(STREAMED);
    byte[] secret = rule.secret();
    StreamedFingerprint.Hash hash =
        secret == null
            ? new StreamedFingerprint.Hash.Plain(sha256())
            : new StreamedFingerprint.Hash.Keyed(hmac(secret));
    hash.update(frame.bytes(), frame.length());
    return new StreamedFingerprint(hash);
  }

  private void putHead(
      RequestFrame frame, RequestHead head, @Nullable MediaType type, boolean canonical) {
    frame.clear(); // an error may have left something there
    frame.putTag(VERSION);
    frame.putText(head.method());
    frame.putText(head.path());
    frame.putText(head.query());
    putMediaType(frame, head.headers(), type, canonical);
    putCoding(frame, head.headers(), isCoded(head.headers()));
    putListed(frame, head.headers());
  }

  /** The media type, or null where there is none or more than one. */
  private static @Nullable MediaType singleMediaType(Headers headers) {
    String value = headers.get("content-type");
    return value == null || headers.count("content-type") > 1 ? null : MediaType.of(value);
  }

  /** Whether there is a content coding other than {@code identity} (RFC 9110 §8.4). */
  private static boolean isCoded(Headers headers) {
    String value = headers.get("content-encoding");
    return value != null
        && (headers.count("content-encoding") > 1 || !value.equalsIgnoreCase("identity"));
  }

  private static void putMediaType(
      RequestFrame frame, Headers headers, @Nullable MediaType type, boolean canonical) {
    if (type == null) {
      frame.putLines(headers, "content-type");
    } else {
      frame.putInt(1);
      frame.putText(canonical ? type.jsonText() : type.text());
    }
  }

  private static void putCoding(RequestFrame frame, Headers headers, boolean coded) {
    if (coded) {
      frame.putLines(headers, "content-encoding");
    } else {
      frame.putInt(0);
    }
  }

  private void putListed(RequestFrame frame, Headers headers) {
    frame.putInt(rule.headers().size());
    for (String name : rule.headers()) {
      frame.putText(name);
      frame.putLines(headers, name);
    }
  }

  private byte[] hash(Workbench bench, byte[] content, int length) {
    RequestFrame frame = bench.frame;
    if (mac == null) {
      bench.digest.reset();
      bench.digest.update(frame.bytes(), 0, frame.length());
      bench.digest.update(content, 0, length);
      return bench.digest.digest();
    }
    Mac keyed = mac.get();
    keyed.reset();
    keyed.update(frame.bytes(), 0, frame.length());
    keyed.update(content, 0, length);
    return keyed.doFinal();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static Mac hmac(byte[] secret) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has HmacSHA256", e);
    }
  }
}
