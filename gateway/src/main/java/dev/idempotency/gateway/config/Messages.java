package dev.idempotency.gateway.config;

import java.util.regex.Pattern;

/** How messages show what somebody wrote. */
final class Messages {

  private static final int MOST = 60;
  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  private Messages() {}

  /** The text, short, in one line and without the password of a URL. */
  static String show(String text) {
    String line = line(text);
    String shown = line.length() <= MOST ? line : line.substring(0, MOST) + "…";
    return shown.isBlank() ? '"' + shown + '"' : shown;
  }

  /** The text in one line and without the password of a URL. */
  static String line(String text) {
    String masked = text.startsWith("/") ? text : Secret.maskUrl(text);
    return CONTROL.matcher(masked).replaceAll("?");
  }
}
