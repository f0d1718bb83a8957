package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Chunk;
import dev.idempotency.gateway.http.Response;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Gathers a body up to a limit, inside the budget of all bodies.
 *
 * <p>Memory is taken as the bytes come, not as they are announced.
 */
final class BodyBuffer {

  /** What came of adding a chunk. */
  enum Addition {
    ADDED,
    OVER_LIMIT,
    OVER_BUDGET
  }

  private static final int SMALLEST = 256;

  private final int limit;
  private final BodyBudget budget;
  private byte[] bytes = Response.NO_BODY;
  private int length;
  private @Nullable Charge charge;

  /**
   * @param limit bytes, as far as an array can have them
   */
  BodyBuffer(long limit, BodyBudget budget) {
    this.limit = (int) Math.min(limit, Integer.MAX_VALUE - 64);
    this.budget = budget;
  }

  /**
   * For a body whose length may have been announced: then no more room is made than it needs.
   *
   * @param announced bytes, or -1
   */
  static BodyBuffer of(long limit, long announced, BodyBudget budget) {
    return new BodyBuffer(announced < 0 ? limit : Math.min(limit, announced), budget);
  }

  /** Adds a copy; the chunk stays the caller's. What was gathered stays after a refusal. */
  Addition add(Chunk chunk) {
    int more = chunk.length();
    if (more > limit - length) {
      return Addition.OVER_LIMIT;
    }
    if (!reserve(length + more)) {
      return Addition.OVER_BUDGET;
    }
    chunk.copyTo(bytes, length);
    length += more;
    return Addition.ADDED;
  }

  private boolean reserve(int wanted) {
    if (wanted <= bytes.length) {
      return true;
    }
    // The first chunk of a small body is mostly the whole of it.
    int doubled = (int) Math.min(limit, Math.max(SMALLEST, 2L * bytes.length));
    int capacity = length == 0 ? wanted : Math.max(wanted, doubled);
    if (!charge(capacity)) {
      return false;
    }
    bytes = Arrays.copyOf(bytes, capacity);
    return true;
  }

  /** Who shares the bytes as they are keeps them, and the new ones are charged anew. */
  private boolean charge(int capacity) {
    if (charge != null && !charge.isShared()) {
      return charge.growTo(capacity);
    }
    Charge fresh = Charge.of(budget, capacity);
    if (fresh == null) {
      return false;
    }
    if (charge != null) {
      charge.release();
    }
    charge = fresh;
    return true;
  }

  int length() {
    return length;
  }

  /** Whether the chunk that was refused could be added if all memory were free. */
  boolean couldAdd(Chunk chunk) {
    return budget.hasRoomFor(length + chunk.length());
  }

  /** Lets one more holder have the bytes gathered, until it releases the charge. */
  @Nullable Charge share() {
    return charge == null ? null : charge.share();
  }

  /** The bytes gathered. The budget stays taken until {@link #release}. */
  byte[] toByteArray() {
    if (bytes.length != length) {
      bytes = Arrays.copyOf(bytes, length);
    }
    return bytes;
  }

  /** Forgets the bytes and gives the budget back unless they are shared. May be called again. */
  void release() {
    if (charge != null) {
      charge.release();
      charge = null;
    }
    length = 0;
    bytes = Response.NO_BODY;
  }
}
