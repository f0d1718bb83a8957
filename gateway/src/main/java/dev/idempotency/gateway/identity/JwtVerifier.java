package dev.idempotency.gateway.identity;

import com.nimbusds.jose.JWSAlgorithm;
import dev.idempotency.gateway.exchange.TokenVerifier;
import dev.idempotency.gateway.exchange.TokenVerifier.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Verifies signed tokens (RFC 7515, RFC 7519) with keys that are fetched and rotated.
 *
 * <p>Threading: one for the gateway; {@link #on} gives each event loop its own door. A verification
 * takes some ten microseconds and is done on the loop; what was verified is remembered.
 */
public final class JwtVerifier implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(JwtVerifier.class);

  /** Asymmetric all: a public key can't be taken for a secret. */
  private static final Set<JWSAlgorithm> KNOWN =
      Set.of(
          JWSAlgorithm.RS256,
          JWSAlgorithm.RS384,
          JWSAlgorithm.RS512,
          JWSAlgorithm.PS256,
          JWSAlgorithm.PS384,
          JWSAlgorithm.PS512,
          JWSAlgorithm.ES256,
          JWSAlgorithm.ES384,
          JWSAlgorithm.ES512,
          JWSAlgorithm.EdDSA);

  private final ScheduledExecutorService timer;
  private final TokenKeys keys;
  private final TokenCheck check;

  private JwtVerifier(ScheduledExecutorService timer, TokenKeys keys, TokenCheck check) {
    this.timer = timer;
    this.keys = keys;
    this.check = check;
  }

  /**
   * Begins to fetch the keys, in the background where they are at an address. Those in a file are
   * read at once: a wrong file is a mistake to hear of when the gateway starts.
   *
   * @throws IllegalArgumentException where the options can't be used; the message says why
   */
  public static JwtVerifier start(TokenOptions options) {
    return start(options, System::nanoTime, System::currentTimeMillis);
  }

  static JwtVerifier start(TokenOptions options, LongSupplier nanoClock, LongSupplier millis) {
    Set<JWSAlgorithm> algorithms = algorithms(options.algorithms());
    ScheduledExecutorService timer =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "token-keys");
              thread.setDaemon(true);
              return thread;
            });
    try {
      boolean isFile = "file".equals(options.keys().getScheme());
      KeySetSource source =
          isFile
              ? new KeySetFile(Path.of(options.keys()), timer)
              : KeySetUrl.of(options.keys(), options.authorities(), timer);
      TokenKeys keys = new TokenKeys(source, algorithms, options.refresh(), timer, nanoClock);
      if (source instanceof KeySetFile file) {
        keys.take(file.read());
      }
      keys.start();
      return new JwtVerifier(timer, keys, new TokenCheck(options, algorithms, millis));
    } catch (IOException | ParseException | RuntimeException e) {
      timer.shutdownNow();
      throw new IllegalArgumentException(
          options.keys().getPath() + ": " + e.getMessage() + " (expected: a JSON Web Key Set)", e);
    }
  }

  private static Set<JWSAlgorithm> algorithms(Set<String> names) {
    Set<JWSAlgorithm> algorithms = new HashSet<>();
    for (String name : names) {
      JWSAlgorithm algorithm = JWSAlgorithm.parse(name);
      if (!KNOWN.contains(algorithm)) {
        throw new IllegalArgumentException(
            name
                + " (expected: one of "
                + KNOWN.stream().map(JWSAlgorithm::getName).sorted().toList()
                + ')');
      }
      algorithms.add(algorithm);
    }
    return Set.copyOf(algorithms);
  }

  /** The verifier for an event loop, which answers on that loop. */
  public TokenVerifier on(Executor loop) {
    return (token, verified) -> verify(token, loop, verified);
  }

  /** Seconds since the keys were fetched; -1 where they never were. */
  public long keysAgeSeconds() {
    return keys.ageSeconds();
  }

  private void verify(String token, Executor loop, Consumer<Verdict> verified) {
    KeySet known = keys.current();
    Verdict verdict = known == null ? null : check.verify(token, known);
    if (verdict != null) {
      verified.accept(verdict);
      return;
    }
    // The key may be new: whoever waits for it holds nothing but its own place.
    keys.renew(() -> run(loop, () -> verified.accept(last(token))));
  }

  private static void run(Executor loop, Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("the event loop has ended");
    }
  }

  private Verdict last(String token) {
    KeySet known = keys.current();
    if (known == null) {
      return new Verdict.Unavailable("the keys that tokens are verified with are not there");
    }
    Verdict verdict = check.verify(token, known);
    return verdict == null
        ? new Verdict.Invalid("it is signed with a key that is not known")
        : verdict;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
