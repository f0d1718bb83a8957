package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an authorisation service said yes to a moment ago. A yes counts again for a question that is
 * equal in all that tells one caller, or one request, from another; a no is always asked anew.
 *
 * <p>Threading: of one event loop.
 */
final class RememberedYes {

  private static final int MOST = 10_000;

  /**
   * Differ with every attempt and say nothing of the caller. {@code baggage} is not among them: it
   * has what applications put into it, such as the tenant.
   */
  private static final Set<String> LEFT_OUT =
      Set.of("traceparent", "tracestate", "x-request-id", "content-length");

  private final long nanos;
  private final Set<String> leftOut;
  private final Scheduler scheduler;
  private final MessageDigest digest = sha256();

  private final LinkedHashMap<Question, Yes> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Question, Yes> eldest) {
          return size() > MOST;
        }
      };

  /**
   * @param time how long a yes counts; zero: not at all
   */
  RememberedYes(Duration time, KeyRule keys, Scheduler scheduler) {
    this.nanos = time.toNanos();
    this.leftOut = leftOut(keys);
    this.scheduler = scheduler;
  }

  private static Set<String> leftOut(KeyRule keys) {
    Set<String> names = new HashSet<>(LEFT_OUT);
    for (KeySource source : keys.sources()) {
      if (source instanceof KeySource.Header header) {
        names.add(header.name().toLowerCase(Locale.ROOT));
      }
    }
    KeyRule.KeyAge age = keys.age();
    if (age != null && age.firstSent() != null) {
      names.add(age.firstSent().toLowerCase(Locale.ROOT));
    }
    return names;
  }

  boolean isOn() {
    return nanos > 0;
  }

  /** A hash: the question has secrets in it. */
  record Question(long a, long b, long c, long d) {}

  private record Yes(Headers answered, long until) {}

  /**
   * What is compared of a question.
   *
   * @param sub the head as the service gets it
   */
  Question of(RequestHead sub, Peer peer) {
    digest.reset();
    update(peer.address());
    update(peer.subject());
    Headers fields = sub.headers();
    for (int i = 0; i < fields.size(); i++) {
      String name = fields.name(i).toLowerCase(Locale.ROOT);
      if (!leftOut.contains(name)) {
        update(name);
        update(fields.value(i));
      }
    }
    byte[] hash = digest.digest();
    return new Question(word(hash, 0), word(hash, 8), word(hash, 16), word(hash, 24));
  }

  /** The fields of the answer, of which each caller gets its own copy; null where none counts. */
  @Nullable Headers find(Question question) {
    Yes yes = known.get(question);
    if (yes != null && yes.until - scheduler.nanoTime() <= 0) {
      known.remove(question);
      return null;
    }
    return yes == null ? null : yes.answered.copy();
  }

  void put(Question question, Headers answered) {
    known.put(question, new Yes(answered.copy(), scheduler.nanoTime() + nanos));
  }

  int size() {
    return known.size();
  }

  /** Each behind its length, so that no two lists run together. */
  private void update(@Nullable String text) {
    byte[] bytes = text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    int length = bytes == null ? -1 : bytes.length;
    for (int shift = 24; shift >= 0; shift -= 8) {
      digest.update((byte) (length >>> shift));
    }
    if (bytes != null) {
      digest.update(bytes);
    }
  }

  private static long word(byte[] hash, int from) {
    return ByteBuffer.wrap(hash).getLong(from);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
