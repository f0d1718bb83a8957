package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The second algorithm: a hash over the frame, which ends with the SHA-256 of the {@link BodyForm};
 * so a body is read once for any number of keys. Each part of the frame has a mark.
 *
 * <p>Threading: safe from any thread.
 */
final class VersionTwo {

  static final int NUMBER = 2;

  private static final int WHOLE_QUERY = 0;
  private static final int PARAMETERS = 1;

  /** Apart from the tags of queries, which stand in the same place. */
  private static final int OVERRIDDEN = 8;

  private static final String[] OVERRIDES = {
    "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"
  };
  private static final int NO_CODING = 0;
  private static final int DECODED = 1;
  private static final int CODED = 2;

  private final FingerprintRule rule;
  private final BodyReader bodies;
  private final @Nullable List<byte[]> parameters;

  VersionTwo(FingerprintRule rule) {
    this.rule = rule;
    this.bodies = new BodyReader(rule);
    List<String> query = rule.query();
    this.parameters =
        query == null
            ? null
            : query.stream().map(name -> name.getBytes(StandardCharsets.UTF_8)).toList();
  }

  /** The fingerprint by that key, or null where the decoded body is larger than allowed. */
  @Nullable Fingerprint of(RequestHead head, byte[] body, HashKey key) {
    Workbench bench = Workbench.own();
    BodyForm form = bodies.read(bench, head.headers(), body);
    if (form == null) {
      return null;
    }
    put(bench.frame, head, form);
    return made(bench.frame, key, bench.digest);
  }

  /** One for each key; none where the decoded body is larger than allowed. */
  List<Fingerprint> of(RequestHead head, byte[] body, List<HashKey> keys) {
    Workbench bench = Workbench.own();
    BodyForm form = bodies.read(bench, head.headers(), body);
    return form == null ? List.of() : of(head, form, keys);
  }

  /** One for each key, of a body that was read. */
  List<Fingerprint> of(RequestHead head, BodyForm form, List<HashKey> keys) {
    Workbench bench = Workbench.own();
    put(bench.frame, head, form);
    List<Fingerprint> made = new ArrayList<>(keys.size());
    for (HashKey key : keys) {
      made.add(made(bench.frame, key, bench.digest));
    }
    return made;
  }

  private static Fingerprint made(RequestFrame frame, HashKey key, MessageDigest digest) {
    byte[] hash = key.hash(digest, frame.bytes(), frame.length(), Reordering.NONE, 0);
    return new Fingerprint(NUMBER, hash, frame.marks(key));
  }

  private void put(RequestFrame frame, RequestHead head, BodyForm form) {
    frame.clear(); // an error may have left something there
    frame.putTag(NUMBER);
    frame.beginPart();
    frame.putText(head.method());
    frame.putText(head.path());
    putOverrides(frame, head.headers());
    frame.beginPart();
    putQuery(frame, head.query());
    frame.beginPart();
    frame.putMediaType(head.headers(), form.type(), form.isData());
    putCoding(frame, head, form.codings());
    frame.putListed(head.headers(), rule.headers());
    frame.beginPart();
    frame.putTag(form.kind().number);
    frame.put(form.hash());
  }

  /** A service may take one of these for the method, and so the request for another. */
  private static void putOverrides(RequestFrame frame, Headers headers) {
    for (int i = 0; i < OVERRIDES.length; i++) {
      if (headers.contains(OVERRIDES[i])) {
        frame.putTag(OVERRIDDEN + i);
        frame.putLines(headers, OVERRIDES[i]);
      }
    }
  }

  private void putQuery(RequestFrame frame, @Nullable String query) {
    FormPairs pairs = Workbench.own().form;
    if (parameters == null || !isLatin(query) || !pairs.read(octets(query))) {
      frame.putTag(WHOLE_QUERY);
      frame.putText(query);
    } else {
      frame.putTag(PARAMETERS);
      frame.putPairs(pairs, parameters);
      pairs.clear();
    }
  }

  private static boolean isLatin(@Nullable String query) {
    return query == null || query.chars().allMatch(c -> c <= 0xFF);
  }

  private static byte[] octets(@Nullable String query) {
    return query == null ? Reordering.NONE : query.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void putCoding(
      RequestFrame frame, RequestHead head, @Nullable List<String> decoded) {
    if (decoded == null) {
      boolean coded = RequestFrame.isCoded(head.headers());
      frame.putTag(coded ? CODED : NO_CODING);
      if (coded) {
        frame.putLines(head.headers(), "content-encoding");
      }
    } else {
      frame.putTag(decoded.isEmpty() ? NO_CODING : DECODED);
      if (!decoded.isEmpty()) {
        frame.putInt(decoded.size());
        decoded.forEach(frame::putText);
      }
    }
  }
}
