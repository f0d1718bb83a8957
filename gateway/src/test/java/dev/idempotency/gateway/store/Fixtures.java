package dev.idempotency.gateway.store;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** What the stores' tests are made of. */
public final class Fixtures {

  public static final Duration LEASE = Duration.ofSeconds(30);
  public static final Duration RETENTION = Duration.ofMinutes(5);

  private Fixtures() {}

  /** An operation that no other test has. */
  public static OperationId operation() {
    byte[] bytes = new byte[OperationId.LENGTH];
    ThreadLocalRandom.current().nextBytes(bytes);
    return OperationId.of(bytes);
  }

  public static Fingerprint fingerprint(int content) {
    byte[] hash = new byte[Fingerprint.LENGTH];
    Arrays.fill(hash, (byte) content);
    return new Fingerprint(1, hash);
  }

  /** A first attempt on a new operation under a long lease. */
  public static Reservation reservation() {
    return Reservation.first(operation(), fingerprint(1), LEASE, RETENTION);
  }

  /** Another caller's first attempt on the same operation. */
  public static Reservation rival(Reservation reservation) {
    return Reservation.first(
        reservation.id(), reservation.fingerprint(), reservation.lease(), reservation.retention());
  }

  /** The same attempt with another lease. */
  public static Reservation withLease(Reservation reservation, Duration lease) {
    return new Reservation(
        reservation.id(),
        reservation.fingerprint(),
        reservation.token(),
        reservation.attempt(),
        lease,
        reservation.retention());
  }

  /** The same attempt with another lease and retention. */
  public static Reservation shortLived(Reservation reservation, Duration lease, Duration keep) {
    return new Reservation(
        reservation.id(),
        reservation.fingerprint(),
        reservation.token(),
        reservation.attempt(),
        lease,
        keep);
  }

  public static StoredResponse response(String body) {
    return new StoredResponse(
        201,
        Headers.of("Content-Type", "text/plain", "Location", "/orders/1"),
        body.getBytes(StandardCharsets.UTF_8),
        new Headers());
  }

  /** What the stage became; its exception, unwrapped, where it failed. */
  public static <T> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }
}
