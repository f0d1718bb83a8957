package dev.idempotency.gateway.http;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The rule for fields that belong to one connection only (RFC 9110 §7.6.1). */
public final class HopByHop {

  private static final Set<String> ALWAYS =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-connection",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-authentication-info",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "http2-settings");

  private HopByHop() {}

  /** Removes the standard hop-by-hop fields and those that {@code Connection} nominates. */
  public static void strip(Headers headers) {
    List<String> nominated = headers.all("connection");
    headers.removeIf((name, value) -> isHopByHop(name) || isNominated(nominated, name));
  }

  /** Whether a field of that name never crosses an intermediary. */
  public static boolean isHopByHop(String name) {
    // Cheap refusal first: this runs for every field of every message.
    return switch (name.length()) {
      case 2, 7, 10, 14, 16, 17, 18, 19, 25 -> ALWAYS.contains(name.toLowerCase(Locale.ROOT));
      default -> false;
    };
  }

  /** Whether one of the {@code Connection} lines nominates that field. */
  public static boolean isNominated(List<String> connectionLines, String name) {
    for (int i = 0; i < connectionLines.size(); i++) {
      if (Headers.listContains(connectionLines.get(i), name)) {
        return true;
      }
    }
    return false;
  }
}
