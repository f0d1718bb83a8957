package dev.idempotency.gateway.exchange;

import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Verifies callers' tokens (RFC 7519).
 *
 * <p>Threading: called on the event loop of the exchange, and answers there, exactly once, possibly
 * before the method returns. Failure: never throws.
 */
public interface TokenVerifier {

  /**
   * Verifies a token: its signature, its issuer and audience, and that it counts now.
   *
   * @param token as it stands behind {@code Bearer}
   */
  void verify(String token, Consumer<Verdict> verified);

  /** What came of it. */
  sealed interface Verdict {

    /**
     * The token is right.
     *
     * @param claims gives the text of a claim; null where there is none that has one text
     */
    record Valid(Function<String, @Nullable String> claims) implements Verdict {}

    /**
     * The token is not right.
     *
     * @param reason for the client: what is wrong, nothing of the token
     */
    record Invalid(String reason) implements Verdict {}

    /** The keys that tokens are verified with are not there. */
    record Unavailable(String reason) implements Verdict {}
  }
}
