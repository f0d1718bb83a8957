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

    /**
     * Somebody else asks, or did a moment ago.
     *
     * @param left how much longer nobody else may
     */
    record Busy(Duration left) implements Result {}

    /** The store did not do it. */
    record Unavailable(StoreUnavailableException cause) implements Result {}
  }

  /**
   * What is probed.
   *
   * @param seen the token of the record that the question was made for; null where only its attempt
   *     is known
   * @param retention how long the record of a completed operation lives
   */
  record Subject(
      Route route,
      ProbeRule rule,
      OperationId id,
      long attempt,
      @Nullable AttemptToken seen,
      Duration retention) {

    /** For how long nobody else asks after a first question. */
    private Duration first() {
      return rule.timeout().plus(rule.backOff());
    }

    private Duration longest() {
      return rule.timeout().plus(rule.longest());
    }

    private Duration pause(int tries) {
      long doubled = first().toMillis() << Math.min(tries, 20);
      return Duration.ofMillis(Math.min(doubled, longest().toMillis()));
    }

    private Resolution resolution(AttemptToken holder, Resolution.Action action, Audit audit) {
      return Resolution.of(id, attempt, holder, action, retention, audit);
    }
  }

  /** Who waits for the result hears one, whatever goes wrong on the way to it. */
  private final class Told implements Consumer<Result> {
    private final Consumer<Result> told;
    private boolean over;

    Told(Consumer<Result> told) {
      this.told = told;
    }

    @Override
    public void accept(Result result) {
      if (!over) {
        over = true;
        told.accept(result);
      }
    }

    /** Does a step; where it throws, which is a bug, nothing is known. */
    void unless(Runnable step) {
      try {
        step.run();
      } catch (RuntimeException | Error e) {
        try {
          accept(new Result.Unknown(Duration.ofSeconds(1)));
        } finally {
          exchanges.listener.bug(e);
        }
      }
    }
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
   * @param told hears the result, once
   */
  void probe(Subject subject, ProbeQuestion question, Consumer<Result> told) {
    Told once = new Told(told);
    once.unless(() -> claim(subject, question, once));
  }

  private void claim(Subject subject, ProbeQuestion question, Told told) {
    when(
        exchanges.store.claimProbe(
            subject.id(), subject.attempt(), subject.seen(), subject.first(), subject.longest()),
        claim -> {
          if (claim instanceof ProbeClaim.Claimed claimed) {
            mark(subject, claimed, question, told);
          } else {
            Duration left = ((ProbeClaim.Busy) claim).left();
            // Where nobody holds it the operation is finished, or what is there is another record:
            // of another attempt, or of the key released and begun anew, maybe by another request.
            told.accept(left.isZero() ? new Result.Changed() : new Result.Busy(left));
          }
        },
        told);
  }

  /**
   * Before anybody is asked the record must say that the outcome is unknown: the owner of a lease
   * that ran out may only be stopped, and could send after the upstream has said "never". Now it
   * finds that it may not.
   */
  private void mark(Subject subject, ProbeClaim.Claimed claim, ProbeQuestion question, Told told) {
    when(
        exchanges.store.resolve(
            subject.resolution(claim.holder(), new Resolution.MarkUnknown(), ASKED)),
        reply -> {
          if (reply instanceof ResolveReply.Done) {
            ask(subject, claim, question, told);
          } else {
            told.accept(new Result.Changed());
          }
        },
        told);
  }

  private void ask(Subject subject, ProbeClaim.Claimed claim, ProbeQuestion question, Told told) {
    new ProbeCall(
            exchanges,
            subject.route(),
            subject.rule(),
            question.head(),
            question.body(),
            finding -> told.unless(() -> found(subject, claim, finding, told)))
        .begin();
  }

  private void found(Subject subject, ProbeClaim.Claimed claim, ProbeFinding finding, Told told) {
    exchanges.listener.probed(subject.route().name(), finding.label());
    if (finding instanceof ProbeFinding.Completed completed) {
      Resolution.Action complete = new Resolution.Complete(completed.response());
      resolve(subject.resolution(claim.holder(), complete, COMPLETED), told);
    } else if (finding instanceof ProbeFinding.Nothing) {
      told.accept(new Result.Unknown(subject.pause(claim.tries())));
    } else {
      // A request that is still on its way may happen after all.
      Duration early = subject.rule().grace().minus(claim.overdue());
      told.accept(
          early.isNegative() || early.isZero()
              ? new Result.Never(claim.holder())
              : new Result.Unknown(longer(early, subject.pause(claim.tries()))));
    }
  }

  /** Before the claim has ended nobody asks again. */
  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /**
   * The operation never happened: its key is new again.
   *
   * @param never what the upstream said
   */
  void release(Subject subject, Result.Never never, Consumer<Result> told) {
    Told once = new Told(told);
    once.unless(
        () -> resolve(subject.resolution(never.holder(), new Resolution.Release(), NEVER), once));
  }

  private void resolve(Resolution resolution, Told told) {
    CompletionStage<ResolveReply> stage = exchanges.store.resolve(resolution);
    // Done, refused or gone: whatever is there now is the truth.
    when(stage, reply -> told.accept(new Result.Changed()), told);
  }

  private <T> void when(CompletionStage<T> stage, Consumer<T> replied, Told told) {
    Stages.when(
        stage,
        reply -> told.unless(() -> replied.accept(reply)),
        unavailable -> told.accept(new Result.Unavailable(unavailable)),
        exchanges.listener);
  }
}
