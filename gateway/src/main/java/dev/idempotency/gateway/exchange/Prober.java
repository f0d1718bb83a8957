package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OpenOperations.ProbeClaim;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks upstreams what became of operations whose outcome is unknown, one caller at a time across
 * all gateways, and writes down what they say. The record changes only by a resolution that names
 * the attempt: where its owner's response comes first, that is the outcome.
 *
 * <p>Threading: event loop of the exchanges only.
 */
final class Prober {

  private static final Audit COMPLETED = new Audit("probe", "the upstream answered with it");
  private static final Audit ASKED = new Audit("probe", "the lease ran out");
  private static final Audit NEVER = new Audit("probe", "the upstream says it never happened");

  /** What came of it. */
  sealed interface Result {

    /** The record has changed, by this or by others: it says what there is now. */
    record Changed() implements Result {}

    /**
     * It never happened.
     *
     * @param holder of the record that was asked about
     */
    record Never(AttemptToken holder) implements Result {}

    /**
     * Nobody knows still.
     *
     * @param left until when it is not asked again
     */
    record Unknown(Duration left) implements Result {}

    /** The store did not do it. */
    record Unavailable(StoreUnavailableException cause) implements Result {}
  }

  private final Exchanges exchanges;

  Prober(Exchanges exchanges) {
    this.exchanges = exchanges;
  }

  /**
   * The question by the route's template. Where what it needs is known and can't be put into it, so
   * that nobody is asked, that is told.
   *
   * @param note where the operation comes from
   * @param asker the fields of a duplicate as they would be forwarded; null where nobody asks
   */
  @Nullable ProbeQuestion question(
      Route route, ProbeRule rule, Note note, long attempt, @Nullable Headers asker) {
    if (note.key().isEmpty()) {
      return null;
    }
    ProbeQuestion question = ProbeQuestion.of(route, rule, note, attempt, asker);
    if (question == null) {
      exchanges.listener.probed(route.name(), ExchangeListener.UNASKABLE);
    }
    return question;
  }

  /**
   * Probes an attempt, unless somebody else does.
   *
   * @param retention how long the record of a completed operation lives
   * @param told hears the result, once
   */
  void probe(
      Route route,
      ProbeRule rule,
      OperationId id,
      long attempt,
      ProbeQuestion question,
      Duration retention,
      Consumer<Result> told) {
    Duration first = rule.timeout().plus(rule.backOff());
    Duration longest = rule.timeout().plus(rule.longest());
    when(
        exchanges.store.claimProbe(id, attempt, first, longest),
        claim -> {
          if (claim instanceof ProbeClaim.Claimed claimed) {
            Subject subject = new Subject(id, attempt, retention, claimed, first, longest);
            mark(subject, told, () -> ask(route, rule, subject, question, told));
          } else {
            told.accept(new Result.Unknown(((ProbeClaim.Busy) claim).left()));
          }
        },
        told);
  }

  private record Subject(
      OperationId id,
      long attempt,
      Duration retention,
      ProbeClaim.Claimed claim,
      Duration first,
      Duration longest) {

    Resolution resolution(Resolution.Action action, Audit audit) {
      return Resolution.of(id, attempt, claim.holder(), action, retention, audit);
    }

    Duration pause() {
      long doubled = first.toMillis() << Math.min(claim.tries(), 20);
      return Duration.ofMillis(Math.min(doubled, longest.toMillis()));
    }
  }

  /**
   * Before anybody is asked the record must say that the outcome is unknown: the owner of a lease
   * that ran out may only be stopped, and could send after the upstream has said "never". Now it
   * finds that it may not.
   */
  private void mark(Subject subject, Consumer<Result> told, Runnable then) {
    Resolution resolution = subject.resolution(new Resolution.MarkUnknown(), ASKED);
    when(
        exchanges.store.resolve(resolution),
        reply -> {
          if (reply instanceof ResolveReply.Done) {
            then.run();
          } else {
            told.accept(new Result.Changed());
          }
        },
        told);
  }

  private void ask(
      Route route, ProbeRule rule, Subject subject, ProbeQuestion question, Consumer<Result> told) {
    ProbeCall call =
        new ProbeCall(
            exchanges,
            route,
            rule,
            question.head(),
            question.body(),
            finding -> found(route, rule, subject, finding, told));
    call.begin();
  }

  private void found(
      Route route, ProbeRule rule, Subject subject, ProbeFinding finding, Consumer<Result> told) {
    exchanges.listener.probed(route.name(), finding.label());
    if (finding instanceof ProbeFinding.Completed completed) {
      Resolution.Action complete = new Resolution.Complete(completed.response());
      resolve(subject.resolution(complete, COMPLETED), told);
    } else if (finding instanceof ProbeFinding.Nothing) {
      told.accept(new Result.Unknown(subject.pause()));
    } else {
      // A request that is still on its way may happen after all.
      Duration early = rule.grace().minus(subject.claim().overdue());
      told.accept(
          early.isNegative() || early.isZero()
              ? new Result.Never(subject.claim().holder())
              : new Result.Unknown(early));
    }
  }

  /**
   * The operation never happened: its key is new again.
   *
   * @param never what the upstream said
   */
  void release(
      OperationId id, long attempt, Result.Never never, Duration retention, Consumer<Result> told) {
    resolve(
        Resolution.of(id, attempt, never.holder(), new Resolution.Release(), retention, NEVER),
        told);
  }

  private void resolve(Resolution resolution, Consumer<Result> told) {
    CompletionStage<ResolveReply> stage = exchanges.store.resolve(resolution);
    // Done, refused or gone: whatever is there now is the truth.
    when(stage, reply -> told.accept(new Result.Changed()), told);
  }

  private <T> void when(CompletionStage<T> stage, Consumer<T> replied, Consumer<Result> told) {
    Stages.when(
        stage,
        replied,
        unavailable -> told.accept(new Result.Unavailable(unavailable)),
        exchanges.listener);
  }
}
