package dev.idempotency.gateway.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The operations that are not finished, for those who do not own them: sweepers, probes, operators.
 * A store keeps an index of them, so that nobody has to read every record; what gateways without an
 * index wrote is not in it.
 *
 * <p>Threading and failure as in {@link IdempotencyStore}.
 */
public interface OpenOperations {

  /**
   * A page of operations.
   *
   * @param cursor where the page before ended; empty for the first page. Of the store's own form; a
   *     cursor that makes no sense begins anew
   * @param least how long they have been overdue at least; zero also takes those that fall due now,
   *     and a negative duration those whose lease is alive
   * @param most how many, 1 to 1000; a page may hold fewer although more follow
   */
  record Query(String cursor, Duration least, int most) {
    public Query {
      if (most < 1 || most > 1_000) {
        throw new IllegalArgumentException(most + " operations, expected: 1 to 1000");
      }
    }
  }

  /**
   * Some of the operations, those of one page longest overdue first.
   *
   * @param next the cursor of the page behind; empty where this is the last
   */
  record Page(List<OpenOperation> operations, String next) {
    public Page {
      operations = List.copyOf(operations);
    }
  }

  /** What became of the wish to probe. */
  sealed interface ProbeClaim {

    /**
     * Nobody else probes this attempt until the time is over.
     *
     * @param holder the token of the record, which says later whether it is still the same
     * @param tries how many probes of this attempt there were before
     * @param overdue for how long the outcome has been unknown, by the store's clock; zero while
     *     the lease is alive
     */
    record Claimed(AttemptToken holder, int tries, Duration overdue) implements ProbeClaim {}

    /**
     * Somebody probes it, or did a moment ago.
     *
     * @param left how long until it may be probed again
     */
    record Busy(Duration left) implements ProbeClaim {}
  }

  /**
   * One entry of an operation's history.
   *
   * @param at milliseconds since 1970 by the store's clock
   * @param what the action: {@code complete}, {@code release}, {@code mark-unknown} or {@code
   *     extend}
   * @param attempt the attempt that was resolved
   */
  record Entry(long at, String what, long attempt, Audit audit) {}

  /** A page of operations that are not finished. */
  CompletionStage<Page> list(Query query);

  /**
   * How many operations have been overdue for at least so long, one number for each; a negative
   * duration counts all that are not finished. May still count some whose retention has ended.
   */
  CompletionStage<List<Long>> count(List<Duration> ages);

  /**
   * Asks for the right to probe an attempt of an operation.
   *
   * @param holder the token of the record that was seen; null where only its attempt is known. That
   *     of another holder is not claimed
   * @param first for how long nobody else may after the first probe, 1 ms or more; doubled with
   *     each further one
   * @param longest the most that it is doubled to
   */
  CompletionStage<ProbeClaim> claimProbe(
      OperationId id,
      long attempt,
      @Nullable AttemptToken holder,
      Duration first,
      Duration longest);

  /**
   * Resolves an operation whose outcome is unknown, by its owner's word or because its lease ran
   * out; otherwise, and where another attempt is the current one, says what is there. Sent again,
   * with its token, it recognises what it did before. Where no record is, nothing is written and
   * the stage is {@link ResolveReply.Gone}.
   */
  CompletionStage<ResolveReply> resolve(Resolution resolution);

  /**
   * What was resolved from outside, oldest first, the latest 32; empty where nothing was. Lives at
   * least as long as the record did when that happened; so it also tells of a key that was released
   * and is used again.
   */
  CompletionStage<List<Entry>> history(OperationId id);
}
