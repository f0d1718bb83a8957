package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import dev.idempotency.gateway.idempotency.KeyPattern;
import java.util.List;

/**
 * Finds the key of a request where its route's rule says that it may be. The first source that has
 * something counts: what is malformed there is not made good by a later one.
 *
 * <p>A malformed reading says of which place it is, such as "the header X is not a key: it is
 * empty".
 */
final class KeyReader {

  private KeyReader() {}

  /** The key as far as the head tells; absent also where only the body can tell. */
  static Reading inHead(KeyRule rule, RequestHead head) {
    List<KeySource> sources = rule.sources();
    for (int i = 0; i < sources.size(); i++) {
      KeySource source = sources.get(i);
      if (source instanceof KeySource.Pointer) {
        break;
      }
      Reading reading = read(rule, source, head);
      if (!(reading instanceof Reading.Absent)) {
        return reading;
      }
    }
    return IdempotencyKey.absent();
  }

  /** The key of a request whose body is whole and that has none in front of its body. */
  static Reading inBody(KeyRule rule, RequestHead head, byte[] body) {
    boolean reached = false;
    for (KeySource source : rule.sources()) {
      reached |= source instanceof KeySource.Pointer;
      if (reached) {
        Reading reading =
            source instanceof KeySource.Pointer pointer
                ? checked(rule, source, pointer.body().find(head, body))
                : read(rule, source, head);
        if (!(reading instanceof Reading.Absent)) {
          return reading;
        }
      }
    }
    return IdempotencyKey.absent();
  }

  private static Reading read(KeyRule rule, KeySource source, RequestHead head) {
    if (source instanceof KeySource.Header header) {
      List<String> lines = head.headers().all(header.name());
      return checked(rule, source, IdempotencyKey.read(lines, rule.syntax()));
    }
    return source instanceof KeySource.Query query
        ? checked(rule, source, QueryParameter.read(head.query(), query.name()))
        : IdempotencyKey.absent();
  }

  private static Reading checked(KeyRule rule, KeySource source, Reading reading) {
    KeyPattern pattern = rule.pattern();
    if (reading instanceof Reading.Malformed malformed) {
      return malformed(source, malformed.reason());
    }
    return reading instanceof Reading.Present present && !pattern.matches(present.key().value())
        ? malformed(source, "it is not of the form that is asked for here")
        : reading;
  }

  private static Reading malformed(KeySource source, String reason) {
    return new Reading.Malformed(source.place() + " is not a key: " + reason);
  }
}
