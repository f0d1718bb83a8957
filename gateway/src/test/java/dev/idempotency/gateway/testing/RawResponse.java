package dev.idempotency.gateway.testing;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A response as it came over the wire, its body without framing. */
public record RawResponse(int status, List<String> headerLines, byte[] body, boolean complete) {

  /** The value of the first line of that name, or null. */
  public String header(String name) {
    List<String> values = headers(name);
    return values.isEmpty() ? null : values.get(0);
  }

  public List<String> headers(String name) {
    String prefix = name.toLowerCase(Locale.ROOT) + ":";
    List<String> values = new ArrayList<>();
    for (String line : headerLines) {
      if (line.toLowerCase(Locale.ROOT).startsWith(prefix)) {
        values.add(line.substring(prefix.length()).trim());
      }
    }
    return values;
  }

  public boolean isReplay() {
    return "true".equals(header("Idempotent-Replayed"));
  }

  public String text() {
    return new String(body, StandardCharsets.ISO_8859_1);
  }

  /** The last segment of the problem's type, or null. */
  public String problem() {
    int at = text().indexOf("/idempotency#");
    return at < 0 ? null : text().substring(at + 13, text().indexOf('"', at));
  }

  @Override
  public String toString() {
    return status + " " + headerLines + " " + text();
  }
}
