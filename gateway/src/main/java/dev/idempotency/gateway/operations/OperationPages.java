package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Query;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.operations.Asked.UnfitException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reads operations from one store, page by page where there may be many. */
final class OperationPages {

  private static final int DEFAULT_LIMIT = 100;
  private static final int MOST = 1_000;

  /** Pages that one question may cost the store. */
  private static final int MOST_PAGES = 20;

  /** Also takes operations whose lease is alive. */
  private static final Duration ALL = Duration.ofMillis(-1);

  private final OperationStore store;

  OperationPages(OperationStore store) {
    this.store = store;
  }

  /** What is looked for, and what has been found. */
  private static final class Search {
    final Predicate<OpenOperation> wanted;
    final Duration least;
    final int limit;
    final List<OpenOperation> found = new ArrayList<>();
    int searched;
    String next = "";

    Search(Predicate<OpenOperation> wanted, Duration least, int limit) {
      this.wanted = wanted;
      this.least = least;
      this.limit = limit;
    }
  }

  /** Of the operations that are not finished, those that the parameters ask for. */
  CompletionStage<AdminResponse> list(Map<String, String> query) throws UnfitException {
    Asked asked = Asked.of(query, "route", "state", "older", "cursor", "limit");
    String state = asked.has("state") ? asked.required("state") : OperationText.UNKNOWN;
    String route = asked.text("route");
    Long limit = asked.number("limit", 1, MOST);
    String cursor = asked.text("cursor");
    Search search =
        new Search(
            open ->
                (route == null || open.operation().note().route().equals(route))
                    && (state.equals("all") || OperationText.state(open.operation()).equals(state)),
            least(state, asked.text("older")),
            limit == null ? DEFAULT_LIMIT : limit.intValue());
    return collect(search, cursor == null ? "" : cursor, MOST_PAGES)
        .thenApply(
            done ->
                AdminResponse.json(
                    200,
                    new JsonObject()
                        .array("operations", search.found.stream().map(OperationText::of).toList())
                        .text("next", search.next)
                        .toString()));
  }

  private static Duration least(String state, @Nullable String older) throws UnfitException {
    switch (state) {
      case OperationText.UNKNOWN -> {
        Duration least = older == null ? Duration.ZERO : DurationText.parse(older);
        if (least == null) {
          throw new UnfitException("older is no duration such as 30s, 10m or 24h.");
        }
        return least;
      }
      case OperationText.IN_FLIGHT, "all" -> {
        if (older != null) {
          throw new UnfitException("older goes with state=unknown only.");
        }
        return ALL;
      }
      default -> throw new UnfitException("state is none of unknown, in-flight and all.");
    }
  }

  /** Those of a trace. A finished operation is in no index: only by key it can be found. */
  CompletionStage<AdminResponse> find(String trace) {
    Search search = new Search(open -> trace.equals(open.operation().note().trace()), ALL, MOST);
    return collect(search, "", MOST_PAGES)
        .thenApply(
            done ->
                AdminResponse.json(
                    200,
                    new JsonObject()
                        .array("operations", search.found.stream().map(OperationText::of).toList())
                        .number("searched", search.searched)
                        .truth("complete", search.next.isEmpty())
                        .text("scope", "operations that are not finished")
                        .toString()));
  }

  /** Everything about one operation. */
  CompletionStage<AdminResponse> show(OperationId id, boolean body) {
    return store
        .find(id)
        .thenCompose(
            found ->
                found.isEmpty()
                    ? CompletableFuture.completedFuture(gone())
                    : show(id, found.get(), body));
  }

  static AdminResponse gone() {
    return AdminResponse.error(
        404,
        "no-operation",
        "There is no record of it: it never began, was released, or its retention is over.");
  }

  /** By values, which may not be those of the client. */
  static AdminResponse notFound() {
    return AdminResponse.error(
        404,
        "no-operation",
        "There is no record with that route, scope and key: it never began, was released, or its"
            + " retention is over; or a value is not exactly what the client sent, such as Bearer"
            + " TOKEN for Authorization.");
  }

  private CompletionStage<AdminResponse> show(
      OperationId id, StoredOperation operation, boolean body) {
    return store
        .history(id)
        .thenCompose(
            history ->
                overdue(id, operation)
                    .thenApply(
                        overdue ->
                            AdminResponse.json(
                                200,
                                OperationText.of(
                                    id, operation, overdue.orElse(null), history, body))));
  }

  /** For how long; only the index of open operations knows it, which is not read to its end. */
  private CompletionStage<Optional<Duration>> overdue(OperationId id, StoredOperation operation) {
    if (!(operation.state() instanceof StoredOperation.OutcomeUnknown)) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    Search search = new Search(open -> open.id().equals(id), Duration.ZERO, MOST);
    return until(search, "", 5)
        .thenApply(done -> search.found.stream().map(OpenOperation::overdue).findFirst());
  }

  private CompletionStage<Search> until(Search search, String cursor, int pages) {
    return store
        .list(new Query(cursor, search.least, MOST))
        .thenCompose(
            page -> {
              page.operations().stream().filter(search.wanted).forEach(search.found::add);
              return !search.found.isEmpty() || page.next().isEmpty() || pages == 1
                  ? CompletableFuture.completedFuture(search)
                  : until(search, page.next(), pages - 1);
            });
  }

  /** A page is never larger than what still fits, so that the cursor leaves nothing out. */
  private CompletionStage<Search> collect(Search search, String cursor, int pages) {
    int room = search.limit - search.found.size();
    return store
        .list(new Query(cursor, search.least, room))
        .thenCompose(
            page -> {
              search.searched += page.operations().size();
              page.operations().stream().filter(search.wanted).forEach(search.found::add);
              search.next = page.next();
              boolean enough =
                  search.found.size() >= search.limit || page.next().isEmpty() || pages == 1;
              return enough
                  ? CompletableFuture.completedFuture(search)
                  : collect(search, page.next(), pages - 1);
            });
  }
}
