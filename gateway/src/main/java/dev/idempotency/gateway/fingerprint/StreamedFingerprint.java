package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A fingerprint that takes the body as it comes. As the bytes are not kept, all fingerprints that a
 * record may have are made at once; of a request that meets no record, only the current one.
 */
final class StreamedFingerprint implements Fingerprinter.Running {

  /** What the network edges read at once, and more. */
  private static final int SCRATCH = 64 << 10;

  private static final ThreadLocal<byte[]> BYTES = ThreadLocal.withInitial(() -> new byte[SCRATCH]);

  private final RequestFingerprinter fingerprinter;
  private final RequestHead head;
  private boolean compared = true;

  /** Of the body alone, for version 2 by any key; null where it is not needed. */
  private @Nullable MessageDigest two;

  /** Of the whole request by version 1, one for each key. */
  private @Nullable List<RunningHash> ones;

  StreamedFingerprint(RequestFingerprinter fingerprinter, RequestHead head) {
    this.fingerprinter = fingerprinter;
    this.head = head;
  }

  @Override
  public void beginsAnew() {
    compared = false;
  }

  @Override
  public void add(Chunk chunk) {
    int length = chunk.length();
    byte[] bytes = length <= SCRATCH ? BYTES.get() : new byte[length];
    chunk.copyTo(bytes, 0);
    for (RunningHash one : ones()) {
      one.update(bytes, length);
    }
    if (two != null) {
      two.update(bytes, 0, length);
    }
  }

  /** Begins the hashes, as late as it is known which of them are needed. */
  private List<RunningHash> ones() {
    if (ones == null) {
      boolean writesOne = fingerprinter.rule.version() == VersionOne.NUMBER;
      List<HashKey> keys = fingerprinter.keys;
      List<HashKey> needed = compared ? keys : keys.subList(0, writesOne ? 1 : 0);
      ones = new ArrayList<>();
      for (HashKey key : needed) {
        ones.add(fingerprinter.one.begin(head, key));
      }
      two = compared || !writesOne ? HashKey.sha256() : null;
    }
    return ones;
  }

  @Override
  public Fingerprints end() {
    List<Fingerprint> first = new ArrayList<>();
    for (RunningHash one : ones()) {
      first.add(new Fingerprint(VersionOne.NUMBER, one.end()));
    }
    List<Fingerprint> second = List.of();
    if (two != null) {
      BodyForm form = BodyForm.raw(head.headers(), two.digest());
      List<HashKey> keys = fingerprinter.keys;
      second = fingerprinter.two.of(head, form, compared ? keys : keys.subList(0, 1));
    }
    boolean writesOne = fingerprinter.rule.version() == VersionOne.NUMBER;
    Fingerprint current = writesOne ? first.get(0) : second.get(0);
    List<Fingerprint> all = new ArrayList<>(first);
    all.addAll(second);
    return new All(current, List.copyOf(all));
  }

  /** All that were made. */
  private record All(Fingerprint current, List<Fingerprint> made) implements Fingerprints {

    @Override
    public boolean include(Fingerprint recorded) {
      return !recorded.isOpen() && made.contains(recorded);
    }

    @Override
    public Set<Part> differing(Fingerprint recorded) {
      return BodyFingerprints.nearest(made, recorded);
    }
  }
}
