package dev.idempotency.gateway.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How an upstream is asked what became of an operation.
 *
 * @param url a path with one or more names in braces: {@code key}, or those of the route's path;
 *     null where the request itself is sent again
 * @param upstream the name of one of the upstreams
 * @param timeout how long the answer may take; 10 ms to 1 min
 * @param completed statuses, 200 to 599, that mean: done, and this is its response
 * @param never statuses that mean: it never happened; none of those above
 * @param onNever what is done then
 * @param grace how long an outcome must have been unknown before that is believed; 0 to 1 h
 * @param status what the stored response says in place of the answer's status; 0: as answered
 * @param headers fields that every question carries, by name
 * @param backOff the pause after a first question that told nothing; 10 ms to 1 h
 * @param longest the longest pause; backOff to 24 h
 */
public record Probe(
    @Nullable String url,
    String upstream,
    Duration timeout,
    Set<Integer> completed,
    Set<Integer> never,
    OnNever onNever,
    Duration grace,
    int status,
    Map<String, OutsideSecret> headers,
    Duration backOff,
    Duration longest) {

  /** The name that stands for the client's key. */
  static final String KEY = "key";

  private static final Pattern NAME = Pattern.compile("\\{([A-Za-z][A-Za-z0-9_-]*)}");

  public Probe {
    completed = Collections.unmodifiableSet(new LinkedHashSet<>(completed));
    never = Collections.unmodifiableSet(new LinkedHashSet<>(never));
    headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
  }

  /** What becomes of an operation that never happened. */
  public enum OnNever {
    /** A duplicate is forwarded at once, as the next attempt. */
    RERUN,
    /** The key is new again. */
    RELEASE
  }

  /** The names in braces, in order. */
  static List<String> names(String template) {
    List<String> names = new ArrayList<>();
    for (Matcher matcher = NAME.matcher(template); matcher.find(); ) {
      names.add(matcher.group(1));
    }
    return names;
  }
}
