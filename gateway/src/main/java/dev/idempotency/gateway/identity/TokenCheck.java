package dev.idempotency.gateway.identity;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSVerifier;
import dev.idempotency.gateway.exchange.TokenVerifier.Verdict;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.text.ParseException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Checks tokens against a set of keys and what is demanded of them. What was right is remembered
 * for as long as it is: a signature costs some ten microseconds, its hash one or two.
 *
 * <p>Threading: safe from any thread.
 */
final class TokenCheck {

  static final int MOST_REMEMBERED = 10_000;

  /** Longer ones fit in no field that clients send. */
  private static final int MOST_CHARACTERS = 16 << 10;

  /** A token made for another purpose is none for this (RFC 8725 §3.11). */
  private static final Set<String> TYPES = Set.of("jwt", "at+jwt");

  private final ClaimRules rules;
  private final Set<JWSAlgorithm> algorithms;
  private final LongSupplier millis;
  private final Cache<ByteBuffer, Right> remembered =
      Caffeine.newBuilder().maximumSize(MOST_REMEMBERED).executor(Runnable::run).build();

  TokenCheck(TokenOptions options, Set<JWSAlgorithm> algorithms, LongSupplier millis) {
    this.rules = new ClaimRules(options);
    this.algorithms = algorithms;
    this.millis = millis;
  }

  /** A token that is right. Not a record: its text would show the claims. */
  private static final class Right {
    private final KeySet keys;
    private final Map<String, Object> claims;
    private final long until;

    Right(KeySet keys, Map<String, Object> claims, long until) {
      this.keys = keys;
      this.claims = claims;
      this.until = until;
    }

    Verdict verdict() {
      return new Verdict.Valid(name -> ClaimRules.text(claims.get(name)));
    }
  }

  /** What is to be said of the token; null where its key is not among those. */
  @Nullable Verdict verify(String token, KeySet keys) {
    if (token.length() > MOST_CHARACTERS) {
      return new Verdict.Invalid("it is too long");
    }
    ByteBuffer hash = hash(token);
    Right right = remembered.getIfPresent(hash);
    // Only by the keys that count now: one that was withdrawn proves nothing any more.
    if (right != null && right.keys == keys && millis.getAsLong() < right.until) {
      return right.verdict();
    }
    return verify(token, keys, hash);
  }

  private @Nullable Verdict verify(String token, KeySet keys, ByteBuffer hash) {
    JWSObject parsed;
    Map<String, Object> claims;
    try {
      parsed = JWSObject.parse(token);
      claims = parsed.getPayload().toJSONObject();
    } catch (ParseException | RuntimeException e) {
      return new Verdict.Invalid("it is not a signed token");
    }
    String trouble = trouble(parsed.getHeader());
    if (trouble != null) {
      return new Verdict.Invalid(trouble);
    }
    JWSAlgorithm algorithm = parsed.getHeader().getAlgorithm();
    List<JWSVerifier> fitting = keys.of(parsed.getHeader().getKeyID(), algorithm);
    if (fitting.isEmpty()) {
      return null;
    }
    if (fitting.stream().noneMatch(verifier -> isSigned(parsed, verifier))) {
      return new Verdict.Invalid("its signature is wrong");
    }
    return judge(claims, keys, hash);
  }

  private Verdict judge(@Nullable Map<String, Object> claims, KeySet keys, ByteBuffer hash) {
    long now = millis.getAsLong();
    String trouble = claims == null ? "its payload is no JSON object" : rules.trouble(claims, now);
    if (trouble != null || claims == null) {
      return new Verdict.Invalid(String.valueOf(trouble));
    }
    Right right = new Right(keys, claims, rules.until(claims));
    remembered.put(hash, right);
    return right.verdict();
  }

  private @Nullable String trouble(JWSHeader header) {
    if (!algorithms.contains(header.getAlgorithm())) {
      return "its algorithm is not one that counts here";
    }
    if (header.getCriticalParams() != null && !header.getCriticalParams().isEmpty()) {
      // No extension is understood here (RFC 7515 §4.1.11).
      return "it demands an extension that is not understood";
    }
    String type = header.getType() == null ? "jwt" : header.getType().getType();
    String small = type.toLowerCase(Locale.ROOT);
    String bare = small.startsWith("application/") ? small.substring(12) : small;
    return TYPES.contains(bare) ? null : "it is of another type";
  }

  private static boolean isSigned(JWSObject parsed, JWSVerifier verifier) {
    try {
      return verifier.verify(parsed.getHeader(), parsed.getSigningInput(), parsed.getSignature());
    } catch (JOSEException | RuntimeException e) {
      return false;
    }
  }

  private static ByteBuffer hash(String token) {
    try {
      byte[] bytes = token.getBytes(StandardCharsets.UTF_8);
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
