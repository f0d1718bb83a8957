package dev.idempotency.gateway.http;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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

  /** End-to-end fields that somebody on the way relies on; nobody may have them removed. */
  private static final Set<String> RELIED_ON =
      Set.of(
          "accept",
          "accept-encoding",
          "accept-language",
          "age",
          "authentication-info",
          "authorization",
          "baggage",
          "cache-control",
          "content-digest",
          "content-disposition",
          "content-encoding",
          "content-language",
          "content-length",
          "content-location",
          "content-md5",
          "content-range",
          "content-type",
          "cookie",
          "date",
          "digest",
          "expect",
          "expires",
          "forwarded",
          "from",
          "host",
          "idempotency-attempt",
          "idempotency-key",
          "idempotency-probe",
          "if-match",
          "if-modified-since",
          "if-none-match",
          "if-range",
          "if-unmodified-since",
          "last-modified",
          "max-forwards",
          "origin",
          "pragma",
          "prefer",
          "range",
          "referer",
          "repr-digest",
          "signature",
          "signature-input",
          "traceparent",
          "tracestate",
          "transfer-encoding",
          "user-agent",
          "via",
          "x-real-ip",
          "x-request-id");

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

  /**
   * The first member of the {@code Connection} lines that is no option of the connection but names
   * a field which the gateway or an upstream relies on; null where there is none. A sender must not
   * nominate those (RFC 9110 §7.6.1).
   */
  public static @Nullable String forbiddenNomination(List<String> connectionLines) {
    for (String line : connectionLines) {
      if (isUsual(line)) {
        continue;
      }
      for (String member : line.split(",", -1)) {
        String name = canonical(member.trim());
        if (RELIED_ON.contains(name) || name.startsWith("x-forwarded-")) {
          return name;
        }
      }
    }
    return null;
  }

  /** Whether one of the lines nominates that field, also with underscores for its hyphens. */
  public static boolean isNominatedInAnySpelling(List<String> connectionLines, String name) {
    String canonical = canonical(name);
    for (String line : connectionLines) {
      for (String member : line.split(",", -1)) {
        if (canonical(member.trim()).equals(canonical)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isUsual(String line) {
    return line.equalsIgnoreCase("keep-alive") || line.equalsIgnoreCase("close");
  }

  /** Gateways of applications (CGI, WSGI) take an underscore for a hyphen. */
  private static String canonical(String name) {
    return name.toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
