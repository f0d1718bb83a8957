package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Fingerprint.Part;
import dev.idempotency.gateway.idempotency.Fingerprints;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The fingerprints of a request whose body is there: all but the current one on demand. */
final class BodyFingerprints implements Fingerprints {

  private final RequestFingerprinter fingerprinter;
  private final RequestHead head;
  private final byte[] body;
  private final Fingerprint current;
  private @Nullable List<Fingerprint> ones;
  private @Nullable List<Fingerprint> twos;

  BodyFingerprints(
      RequestFingerprinter fingerprinter, RequestHead head, byte[] body, Fingerprint current) {
    this.fingerprinter = fingerprinter;
    this.head = head;
    this.body = body;
    this.current = current;
  }

  @Override
  public Fingerprint current() {
    return current;
  }

  @Override
  public boolean include(Fingerprint recorded) {
    return recorded.equals(current) || of(recorded.version()).contains(recorded);
  }

  @Override
  public Set<Part> differing(Fingerprint recorded) {
    return nearest(of(recorded.version()), recorded);
  }

  /** By that version, for all keys. */
  private List<Fingerprint> of(int version) {
    return switch (version) {
      case VersionOne.NUMBER -> ones();
      case VersionTwo.NUMBER -> twos();
      default -> List.of();
    };
  }

  private List<Fingerprint> ones() {
    if (ones == null) {
      ones = fingerprinter.one.of(head, body, fingerprinter.keys);
    }
    return ones;
  }

  private List<Fingerprint> twos() {
    if (twos == null) {
      // Without a secret there is one key.
      boolean sole = fingerprinter.keys.size() == 1 && current.version() == VersionTwo.NUMBER;
      twos = sole ? List.of(current) : fingerprinter.two.of(head, body, fingerprinter.keys);
    }
    return twos;
  }

  /** What differs by the key that most likely made the recorded one: by another all marks do. */
  static Set<Part> nearest(List<Fingerprint> made, Fingerprint recorded) {
    Set<Part> least = Set.of();
    for (Fingerprint one : made) {
      Set<Part> parts = one.differing(recorded);
      if (!parts.isEmpty() && (least.isEmpty() || parts.size() < least.size())) {
        least = parts;
      }
    }
    return least;
  }
}
