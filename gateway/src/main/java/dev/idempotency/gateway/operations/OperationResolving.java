package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.operations.Asked.UnfitException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes what operators decide about an operation whose outcome is unknown. */
final class OperationResolving {

  private static final Logger LOG = LoggerFactory.getLogger("dev.idempotency.gateway.audit");
  private static final Duration LONGEST = Duration.ofDays(3650);

  private final Map<String, Route> routes;

  OperationResolving(Map<String, Route> routes) {
    this.routes = routes;
  }

  /**
   * What an operator decided.
   *
   * @param name as the body has it, and the metric
   * @param holder the name of the record that was seen; null where only its attempt is told
   * @param retention null: the route's
   */
  private record Decision(
      String name,
      long attempt,
      @Nullable String holder,
      Resolution.Action action,
      @Nullable Duration retention,
      Audit audit) {}

  CompletionStage<OperatorAnswer> resolve(OperationStore store, OperationId id, byte[] body)
      throws UnfitException {
    Decision decision = decision(body);
    return store
        .find(id)
        .thenCompose(
            found ->
                found.isEmpty()
                    ? now(decision, OperationPages.gone())
                    : resolve(store, id, decision, found.get()));
  }

  private CompletionStage<OperatorAnswer> resolve(
      OperationStore store, OperationId id, Decision decision, StoredOperation found) {
    String name = found.note().route();
    if (decision.holder() != null && !decision.holder().equals(HolderName.of(found))) {
      audit(id, name, decision, 409);
      return now(decision, refused(id, found));
    }
    Duration retention = retention(decision, name);
    if (retention == null) {
      String detail =
          found.state() instanceof StoredOperation.OutcomeUnknown
              ? "for is missing: " + routeless(name)
              : "";
      return now(
          decision,
          detail.isEmpty() ? refused(id, found) : AdminResponse.error(400, "bad-request", detail));
    }
    // Of the record that was found, and named: between look and write it may become another.
    Resolution resolution =
        Resolution.of(
            id, decision.attempt(), found.holder(), decision.action(), retention, decision.audit());
    return store
        .resolve(resolution)
        .thenApply(
            reply -> {
              AdminResponse answer = answer(id, decision, reply);
              audit(id, name, decision, answer.status());
              return new OperatorAnswer(decision.name(), answer);
            });
  }

  /** Why the route's retention does not stand in for one that is given. */
  private static String routeless(String name) {
    return name.isEmpty()
        ? "the record does not say which route it is of."
        : "the operation's route is none of this gateway.";
  }

  private @Nullable Duration retention(Decision decision, String route) {
    if (decision.retention() != null) {
      return decision.retention();
    }
    Route known = routes.get(route);
    if (known != null) {
      return known.retention();
    }
    // Of a record that goes, it means nothing.
    return decision.action() instanceof Resolution.Release ? Duration.ofDays(1) : null;
  }

  private static AdminResponse answer(OperationId id, Decision decision, ResolveReply reply) {
    if (reply instanceof ResolveReply.Refused refused) {
      return refused(id, refused.current());
    }
    return reply instanceof ResolveReply.Gone
        ? OperationPages.gone()
        : AdminResponse.json(
            200,
            new JsonObject()
                .text("id", id.toString())
                .text("action", decision.name())
                .number("attempt", decision.attempt())
                .text("result", "done")
                .toString());
  }

  /** With what is there, by which the operator can decide anew. */
  private static AdminResponse refused(OperationId id, StoredOperation current) {
    return AdminResponse.json(
        409,
        new JsonObject()
            .number("status", 409)
            .text("error", "not-resolved")
            .text(
                "detail",
                "Only an operation whose outcome is unknown is resolved, by its current attempt:"
                    + " this one is "
                    + OperationText.state(current)
                    + ", attempt "
                    + OperationText.attempt(current)
                    + ".")
            .raw("operation", OperationText.of(id, current, null, null, false))
            .toString());
  }

  /** Neither key nor scope, which are the client's. */
  private static void audit(OperationId id, String route, Decision decision, int status) {
    LOG.info(
        "operation {}{}: {} of attempt {} by {} {} ({})",
        id,
        route.isEmpty() ? "" : " of route " + route,
        decision.name(),
        decision.attempt(),
        decision.audit().who(),
        status == 200 ? "done" : "refused with " + status,
        decision.audit().why());
  }

  private static CompletionStage<OperatorAnswer> now(Decision decision, AdminResponse response) {
    return CompletableFuture.completedFuture(new OperatorAnswer(decision.name(), response));
  }

  private static Decision decision(byte[] body) throws UnfitException {
    Asked asked = Asked.of(body, "attempt", "holder", "action", "response", "for", "reason", "who");
    Long attempt = asked.number("attempt", 1, Long.MAX_VALUE);
    if (attempt == null) {
      throw new UnfitException(
          "attempt is missing: the one that you saw, so that no other is hit.");
    }
    String holder = asked.text("holder");
    if (holder != null && !HolderName.isOne(holder)) {
      throw new UnfitException("holder is not 16 hexadecimal digits, as the operation shows it.");
    }
    String name = asked.required("action");
    Resolution.Action action = action(name, asked);
    String time = asked.text("for");
    Duration retention = time == null ? null : DurationText.parse(time);
    if (time != null
        && (retention == null || retention.toMillis() < 100 || retention.compareTo(LONGEST) > 0)) {
      throw new UnfitException("for is no duration from 100ms to 3650d, such as 24h.");
    }
    if (time != null && action instanceof Resolution.Release) {
      throw new UnfitException("for goes with complete and extend only.");
    }
    Audit audit = new Audit(asked.line("who", 100), asked.line("reason", 500));
    return new Decision(name, attempt, holder, action, retention, audit);
  }

  private static Resolution.Action action(String name, Asked asked) throws UnfitException {
    if (!name.equals("complete") && asked.has("response")) {
      throw new UnfitException("response goes with complete only.");
    }
    return switch (name) {
      case "complete" -> new Resolution.Complete(GivenResponse.read(asked));
      case "release" -> new Resolution.Release();
      case "extend" -> new Resolution.Extend();
      default -> throw new UnfitException("action is none of complete, release and extend.");
    };
  }
}
