package dev.idempotency.loadtest;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/** What became of one request, as far as the checks need it. */
sealed interface Answer {

  /**
   * A response came.
   *
   * @param status its status
   * @param replayed whether it says {@code Idempotent-Replayed: true}
   * @param retryAfter whether it has {@code Retry-After}
   * @param problem the last segment of the {@code type} of a problem document, such as {@code
   *     key-reused}; null where it is none
   * @param body a digest of its body
   */
  record Response(
      int status, boolean replayed, boolean retryAfter, @Nullable String problem, long body)
      implements Answer {

    boolean isSuccess() {
      return status >= 200 && status < 300;
    }

    /** Whether a client could not tell the two apart but for the mark of a replay. */
    boolean tellsTheSameAs(Response other) {
      return status == other.status && body == other.body;
    }

    @Override
    public String toString() {
      return status + (problem == null ? "" : " " + problem) + (replayed ? " (replayed)" : "");
    }
  }

  /**
   * No response came: connection refused, reset, timeout.
   *
   * @param reason what the client said
   */
  record None(String reason) implements Answer {
    @Override
    public String toString() {
      return "no response: " + reason;
    }
  }

  /** The first eight bytes of the body's SHA-256: enough to tell two bodies apart. */
  static long digest(byte[] body) {
    try {
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(body)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
