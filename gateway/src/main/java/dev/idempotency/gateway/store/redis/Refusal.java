package dev.idempotency.gateway.store.redis;

import java.util.Set;

/** What Redis says when it does not do what it was asked. */
final class Refusal {

  /** This connection leads to a server that is of no use at present: another may be better. */
  private static final Set<String> USELESS =
      Set.of(
          "READONLY",
          "LOADING",
          "MASTERDOWN",
          "CLUSTERDOWN",
          "MISCONF",
          "NOREPLICAS",
          "NOAUTH",
          "MOVED");

  private static final int LONGEST = 120;

  private Refusal() {}

  static boolean isNoScript(String error) {
    return error.startsWith("NOSCRIPT");
  }

  /** Another node of a Cluster has the slot, or is about to get it. */
  static boolean isRedirection(String error) {
    return error.startsWith("MOVED ") || error.startsWith("ASK ");
  }

  /** The keys of a command are just on their way from one node of a Cluster to another. */
  static boolean isTryAgain(String error) {
    return error.startsWith("TRYAGAIN");
  }

  static boolean makesConnectionUseless(String error) {
    int blank = error.indexOf(' ');
    return USELESS.contains(blank < 0 ? error : error.substring(0, blank));
  }

  /** For the log: short, printable, and without script names and arguments that Redis repeats. */
  static String text(String error) {
    String text = before(" script: ", before(", with args", error));
    text = text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text;
    text = text.replaceAll("[^\\x20-\\x7e…]", "?");
    return lacksRights(error) ? text + " (the README lists the rights that the user needs)" : text;
  }

  private static boolean lacksRights(String error) {
    return error.startsWith("NOPERM") || error.contains("user executing the script can't");
  }

  private static String before(String end, String text) {
    int at = text.indexOf(end);
    return at < 0 ? text : text.substring(0, at);
  }

  /** The innermost reason of a failure to connect. */
  static String text(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    String message = cause.getMessage();
    return text(message == null ? cause.getClass().getSimpleName() : message);
  }
}
