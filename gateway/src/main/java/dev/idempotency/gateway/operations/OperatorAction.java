package dev.idempotency.gateway.operations;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What operators can ask for, and where. */
enum OperatorAction {
  LIST("GET", OperationsApi.PATH),
  FIND("POST", OperationsApi.PATH + "/find"),
  SHOW("GET", OperationsApi.PATH + "/[^/]+"),
  RESOLVE("POST", OperationsApi.PATH + "/[^/]+/resolve");

  private final String method;
  private final String path;

  OperatorAction(String method, String path) {
    this.method = method;
    this.path = path;
  }

  /** As the metric names it. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Null where nothing is there, or not by that method. */
  static @Nullable OperatorAction of(String method, String path) {
    OperatorAction there = at(path);
    return there != null && there.method.equals(method) ? there : null;
  }

  /** The method that a path takes; empty where nothing is there. */
  static String allowed(String path) {
    OperatorAction there = at(path);
    return there == null ? "" : there.method;
  }

  private static @Nullable OperatorAction at(String path) {
    for (OperatorAction action : values()) {
      if (path.matches(action.path)) {
        return action;
      }
    }
    return null;
  }
}
