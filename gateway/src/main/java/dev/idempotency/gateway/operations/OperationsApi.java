package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.exchange.OperationNames;
import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.OperationStore;
import dev.idempotency.gateway.operations.Asked.UnfitException;
import dev.idempotency.gateway.operations.OperatorRoles.Role;
import io.netty.util.concurrent.EventExecutor;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What operators ask and decide about operations, on the admin listener: lists those that are not
 * finished, finds and shows one, and resolves one whose outcome is unknown.
 *
 * <p>Threading: asked on an event loop, whose own store it uses; answers there, now or later.
 * Failure: stages complete normally, whatever happens.
 */
public final class OperationsApi {

  static final String PATH = "/operations";

  private static final Logger LOG = LoggerFactory.getLogger(OperationsApi.class);
  private static final Pattern ID = Pattern.compile("[0-9a-f]{64}");
  private static final String CHALLENGE = "Bearer realm=\"idempotency-gateway operators\"";

  /**
   * What somebody asks.
   *
   * @param path without the query
   * @param query the first value of each parameter
   * @param authorization the field's value; null where there is none
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Question(
      String method,
      String path,
      Map<String, String> query,
      @Nullable String authorization,
      byte[] body) {}

  private final OperatorOptions options;
  private final OperatorRoles roles;
  private final Map<String, Route> routes;
  private final Function<EventExecutor, OperationStore> stores;
  private final GatewayMetrics metrics;
  private final OperationResolving resolving;

  /**
   * @param routes of one event loop; their rules are looked at, nobody is asked
   * @param stores the store of the event loop that asks
   */
  public OperationsApi(
      OperatorOptions options,
      List<Route> routes,
      Function<EventExecutor, OperationStore> stores,
      GatewayMetrics metrics) {
    this.options = options;
    this.roles = new OperatorRoles(options);
    this.routes = routes.stream().collect(Collectors.toMap(Route::name, Function.identity()));
    this.stores = stores;
    this.metrics = metrics;
    this.resolving = new OperationResolving(this.routes);
  }

  /** Where nobody may ask. */
  static OperationsApi off(GatewayMetrics metrics) {
    return new OperationsApi(
        OperatorOptions.NOBODY,
        List.of(),
        loop -> {
          throw new IllegalStateException("nobody may ask");
        },
        metrics);
  }

  boolean isOn() {
    return !options.isNobody();
  }

  static boolean has(String path) {
    return path.equals(PATH) || path.startsWith(PATH + "/");
  }

  CompletionStage<AdminResponse> answer(Question question, EventExecutor loop) {
    if (options.isNobody()) {
      return now(
          404,
          "operators-not-configured",
          "Nobody may look at operations here: the configuration has no operators.read and no"
              + " operators.write.");
    }
    OperatorAction action = OperatorAction.of(question.method(), question.path());
    if (action == null) {
      return now(misplaced(question));
    }
    AdminResponse denied = denied(action, roles.of(question.authorization()));
    if (denied != null) {
      metrics.operatorAction(action.label(), denied.status());
      return now(denied);
    }
    return counted(action, question, loop);
  }

  private static @Nullable AdminResponse denied(OperatorAction action, Role role) {
    if (role == Role.NOTHING) {
      return AdminResponse.error(401, "token-missing", "Show an operators' token: Bearer TOKEN.")
          .withChallenge(CHALLENGE);
    }
    return action == OperatorAction.RESOLVE && role != Role.WRITE
        ? AdminResponse.error(
                403, "token-too-weak", "To resolve an operation takes the operators.write token.")
            .withChallenge(CHALLENGE + ", error=\"insufficient_scope\"")
        : null;
  }

  private CompletionStage<AdminResponse> counted(
      OperatorAction action, Question question, EventExecutor loop) {
    return follow(action, question, loop)
        .handle(
            (answer, failure) -> {
              OperatorAnswer given = failure == null ? answer : failed(action, failure);
              metrics.operatorAction(given.action(), given.response().status());
              return given.response();
            });
  }

  private CompletionStage<OperatorAnswer> follow(
      OperatorAction action, Question question, EventExecutor loop) {
    try {
      OperationStore store = stores.apply(loop);
      return switch (action) {
        case LIST -> named("list", new OperationPages(store).list(question.query()));
        case FIND -> named("find", find(store, question.body()));
        case SHOW -> named("show", show(store, question));
        case RESOLVE -> resolving.resolve(store, idOf(question.path()), question.body());
      };
    } catch (UnfitException e) {
      AdminResponse response = AdminResponse.error(400, "bad-request", e.reason());
      return CompletableFuture.completedFuture(new OperatorAnswer(action.label(), response));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static CompletionStage<OperatorAnswer> named(
      String action, CompletionStage<AdminResponse> response) {
    return response.thenApply(answer -> new OperatorAnswer(action, answer));
  }

  private static OperatorAnswer failed(OperatorAction action, Throwable failure) {
    if (StoreFailures.is(failure)) {
      return new OperatorAnswer(
          action.label(),
          AdminResponse.error(
              503,
              "store-unavailable",
              action == OperatorAction.RESOLVE
                  ? "The store did not answer in time. Look at the operation before you try again:"
                      + " it may have been resolved."
                  : "The store did not answer in time."));
    }
    LOG.error("An operators' question failed", failure);
    return new OperatorAnswer(
        action.label(), AdminResponse.error(500, "failed", "The log says why."));
  }

  private CompletionStage<AdminResponse> find(OperationStore store, byte[] body)
      throws UnfitException {
    Asked asked = Asked.of(body, "route", "scope", "issuer", "key", "trace");
    String trace = asked.text("trace");
    if (trace != null) {
      if (asked.has("key") || asked.has("scope")) {
        throw new UnfitException("trace is given beside key or scope (expected: one of them).");
      }
      return new OperationPages(store).find(trace);
    }
    String name = asked.required("route");
    Route route = routes.get(name);
    if (route == null) {
      throw new UnfitException(
          "route is none of this gateway (expected: "
              + routes.keySet().stream().sorted().toList()
              + ").");
    }
    String issuer = asked.text("issuer");
    OperationNames.Naming naming =
        OperationNames.of(
            route,
            asked.texts("scope"),
            issuer == null ? options.issuer() : issuer,
            asked.required("key"));
    if (naming instanceof OperationNames.Naming.Unnamed unnamed) {
      throw new UnfitException(unnamed.reason() + ".");
    }
    return new OperationPages(store)
        .show(((OperationNames.Naming.Named) naming).id(), false)
        .thenApply(answer -> answer.status() == 404 ? OperationPages.notFound() : answer);
  }

  private CompletionStage<AdminResponse> show(OperationStore store, Question question)
      throws UnfitException {
    boolean body = "1".equals(question.query().get("body"));
    if (body && !options.bodies()) {
      return now(
          403, "bodies-hidden", "Stored bodies are not shown: operators.bodies is not true.");
    }
    return new OperationPages(store).show(idOf(question.path()), body);
  }

  private static OperationId idOf(String path) throws UnfitException {
    String[] segments = path.split("/", -1);
    if (!ID.matcher(segments[2]).matches()) {
      throw new UnfitException("The operation's id is not 64 hexadecimal digits.");
    }
    return OperationId.of(HexFormat.of().parseHex(segments[2]));
  }

  private static AdminResponse misplaced(Question question) {
    String allowed = OperatorAction.allowed(question.path());
    return allowed.isEmpty()
        ? AdminResponse.error(404, "not-found", "The list is at /.")
        : AdminResponse.error(405, "method-not-allowed", "Allowed here: " + allowed + ".")
            .withAllow(allowed);
  }

  private static CompletionStage<AdminResponse> now(int status, String error, String detail) {
    return now(AdminResponse.error(status, error, detail));
  }

  private static CompletionStage<AdminResponse> now(AdminResponse response) {
    return CompletableFuture.completedFuture(response);
  }
}
