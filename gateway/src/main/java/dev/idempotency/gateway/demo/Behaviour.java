package dev.idempotency.gateway.demo;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a request asks the demo upstream to do with it, in its query or, in the same notation, in
 * the header {@value #HEADER}; the query goes first. Names that are not known here are ignored.
 *
 * @param delay how long the work takes ({@code delay=2s}, {@code delay=50ms}; at most one hour).
 *     The effect, if any, comes at its end, whatever has become of the connection by then
 * @param fault what goes wrong ({@code fail=before}, {@code fail=after}, {@code drop=before},
 *     {@code drop=after})
 * @param status the status of the answer ({@code status=422}), 200 to 599; from 400 on there is no
 *     effect
 * @param padding how many bytes the answer carries on top ({@code size=1MiB}, {@code size=10KiB},
 *     {@code size=77}), 0 to 64 MiB
 * @param outcome what the answer says in {@code Idempotency-Outcome} ({@code outcome=released});
 *     null for nothing
 */
record Behaviour(Duration delay, Fault fault, int status, int padding, @Nullable String outcome) {

  static final String HEADER = "Demo-Behaviour";

  /** What goes wrong with a request, and on which side of its effect. */
  enum Fault {
    NONE,
    /** 503 with {@code Retry-After}, no effect. */
    FAIL_BEFORE,
    /** The effect, then 500. */
    FAIL_AFTER,
    /** The connection is closed without an answer, no effect. */
    DROP_BEFORE,
    /** The effect, then the connection is closed without an answer. */
    DROP_AFTER;

    boolean beforeTheEffect() {
      return this == FAIL_BEFORE || this == DROP_BEFORE;
    }

    boolean drops() {
      return this == DROP_BEFORE || this == DROP_AFTER;
    }
  }

  private static final int MOST_PADDING = 64 << 20;
  private static final Duration LONGEST_DELAY = Duration.ofHours(1);
  private static final Pattern QUANTITY = Pattern.compile("(\\d{1,9})([A-Za-z]*)");

  /**
   * Reads what a request asks for.
   *
   * @param target the request target
   * @param header the value of {@value #HEADER}, or null
   * @throws IllegalArgumentException if a value makes no sense; the message is for the client
   */
  static Behaviour read(String target, @Nullable String header) {
    Asked asked =
        new Asked(
            new QueryStringDecoder(target).parameters(),
            new QueryStringDecoder(header == null ? "" : header, false).parameters());
    return new Behaviour(
        delay(asked.get("delay")),
        fault(asked.get("fail"), asked.get("drop")),
        status(asked.get("status")),
        padding(asked.get("size")),
        asked.get("outcome"));
  }

  /** Whether the order is created. */
  boolean hasEffect() {
    return !fault.beforeTheEffect() && status < 400;
  }

  private record Asked(Map<String, List<String>> query, Map<String, List<String>> header) {
    @Nullable String get(String name) {
      List<String> values = query.getOrDefault(name, header.getOrDefault(name, List.of()));
      return values.isEmpty() ? null : values.get(0);
    }
  }

  private static Duration delay(@Nullable String text) {
    if (text == null) {
      return Duration.ZERO;
    }
    Matcher quantity = quantity("delay", text, "2s or 50ms");
    long number = Long.parseLong(quantity.group(1));
    Duration delay =
        switch (quantity.group(2)) {
          case "ms" -> Duration.ofMillis(number);
          case "s" -> Duration.ofSeconds(number);
          default -> throw wrong("delay", text, "2s or 50ms");
        };
    if (delay.compareTo(LONGEST_DELAY) > 0) {
      throw wrong("delay", text, "at most 3600s");
    }
    return delay;
  }

  private static Fault fault(@Nullable String fail, @Nullable String drop) {
    if (fail != null && drop != null) {
      throw wrong("drop", drop, "either fail or drop");
    }
    if (fail != null) {
      return isBefore("fail", fail) ? Fault.FAIL_BEFORE : Fault.FAIL_AFTER;
    }
    if (drop != null) {
      return isBefore("drop", drop) ? Fault.DROP_BEFORE : Fault.DROP_AFTER;
    }
    return Fault.NONE;
  }

  private static boolean isBefore(String name, String text) {
    return switch (text) {
      case "before" -> true;
      case "after" -> false;
      default -> throw wrong(name, text, "before or after");
    };
  }

  private static int status(@Nullable String text) {
    if (text == null) {
      return 201;
    }
    if (!text.matches("[2-5]\\d\\d")) {
      throw wrong("status", text, "200 to 599");
    }
    return Integer.parseInt(text);
  }

  private static int padding(@Nullable String text) {
    if (text == null) {
      return 0;
    }
    String expected = "0 to 64MiB, such as 77, 10KiB or 1MiB";
    Matcher quantity = quantity("size", text, expected);
    long number = Long.parseLong(quantity.group(1));
    long bytes =
        switch (quantity.group(2)) {
          case "", "B" -> number;
          case "KiB" -> number << 10;
          case "MiB" -> number << 20;
          default -> throw wrong("size", text, expected);
        };
    if (bytes > MOST_PADDING) {
      throw wrong("size", text, expected);
    }
    return (int) bytes;
  }

  private static Matcher quantity(String name, String text, String expected) {
    Matcher quantity = QUANTITY.matcher(text);
    if (!quantity.matches()) {
      throw wrong(name, text, expected);
    }
    return quantity;
  }

  private static IllegalArgumentException wrong(String name, String text, String expected) {
    return new IllegalArgumentException(name + ": " + text + " (expected: " + expected + ")");
  }
}
