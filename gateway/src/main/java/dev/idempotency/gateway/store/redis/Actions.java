package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.Resolution;

/** How the scripts spell what a resolution does. */
final class Actions {

  private Actions() {}

  static char letter(Resolution.Action action) {
    if (action instanceof Resolution.Complete) {
      return 'C';
    }
    if (action instanceof Resolution.Release) {
      return 'D';
    }
    return action instanceof Resolution.Extend ? 'E' : 'U';
  }

  /** The word of what a letter stands for. */
  static String word(char letter) {
    return switch (letter) {
      case 'C' -> "complete";
      case 'D' -> new Resolution.Release().word();
      case 'E' -> new Resolution.Extend().word();
      default -> new Resolution.MarkUnknown().word();
    };
  }
}
