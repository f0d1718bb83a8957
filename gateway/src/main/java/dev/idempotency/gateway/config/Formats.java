package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Kind;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.http.HopByHop;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The formats of the values that files and flags have in common. */
final class Formats {

  private static final Predicate<String> HOST_NAME =
      Pattern.compile("(?=.{1,253}$)[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*").asMatchPredicate();
  private static final Predicate<String> IPV6_HOST =
      Pattern.compile("\\[(?=[^\\]]*:)[0-9a-f:.]{2,45}]").asMatchPredicate();

  static final Format<HostAndPort> LISTEN =
      Format.text(
          "HOST:PORT such as 127.0.0.1:8080 or [::1]:8080, port 0 to 65535", HostAndPort::parse);

  static final Format<UpstreamUrl> UPSTREAM_URL =
      Format.text(
          "a URL such as http://127.0.0.1:3000 or https://orders.internal, without a path",
          UpstreamUrl::parse);

  static final Format<String> NAME =
      matching(
          "[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
          "up to 64 letters, digits, dots, dashes or underscores, such as create-order");

  static final Format<String> HEADER =
      Format.text(
          "the name of an end-to-end header field such as X-Request-Id",
          text -> Optional.of(text).filter(Formats::isEndToEndField));

  /** An exact one, in small letters. */
  static final Format<String> HOST =
      Format.text(
          "a host such as api.example.com or [::1], without a port; no wildcards",
          text -> Optional.of(text.toLowerCase(Locale.ROOT)).filter(HOST_NAME.or(IPV6_HOST)));

  /** A name that certificates have and that SNI can carry, which addresses cannot. */
  static final Format<String> SERVER_NAME =
      Format.text(
          "a host name such as orders.internal, no address",
          text -> Optional.of(text).filter(HOST_NAME.and(name -> !name.matches("[0-9.]+"))));

  static final Format<String> RANGE =
      Format.text(
          "an address or a range such as ::1 or 10.0.0.0/8, no bits set behind the length",
          Formats::range);

  static final Format<String> TLS_PROTOCOL =
      Format.text(
          alternatives(Defaults.TLS_PROTOCOLS),
          text -> Optional.of(text).filter(Defaults.TLS_PROTOCOLS::contains));

  static final Format<String> HEALTH_PATH =
      matching("/[!-\"$-~]{0,1023}", "a path such as /healthz, with a query or without");

  static final Format<String> UPGRADE =
      Format.text("websocket", text -> Optional.of(text).filter("websocket"::equals));

  static final Format<String> POINTER =
      matching("(?:/(?:[^~/]|~[01])*)+", "a JSON pointer (RFC 6901) such as /metadata/sent_at");

  static final Format<String> PATH = Format.text(PathSyntax.EXPECTED, PathSyntax::parse);

  static final Format<String> ANY_METHOD = matching("[A-Z]{1,32}", "a method such as GET");

  static final Format<String> KEYED_METHOD =
      Format.text(
          "POST, PUT, PATCH or DELETE; others are never keyed: give them a route that says"
              + " idempotency: off",
          text -> Optional.of(text).filter(Set.of("POST", "PUT", "PATCH", "DELETE")::contains));

  static final Format<String> PREFIX =
      matching(
          "[A-Za-z0-9][A-Za-z0-9._:-]{0,63}", "up to 64 letters, digits, or . _ : - such as idem:");

  static final Format<String> KEY_ID =
      matching("[A-Za-z0-9_-]{1,32}", "up to 32 letters, digits, dashes or underscores such as k1");

  static final Format<String> ENVIRONMENT_NAME =
      matching("[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable").asHidden();

  static final Format<String> FILE_PATH =
      Format.text("the path of a file", text -> Optional.of(text).filter(path -> !path.isBlank()));

  static final Format<Secret> SECRET =
      Format.text(
              Secret.MIN_LENGTH + " characters or more, or { env: NAME } or { file: PATH }",
              text ->
                  Optional.of(text)
                      .filter(secret -> secret.length() >= Secret.MIN_LENGTH)
                      .map(Secret::new))
          .asHidden();

  /** How long a duplicate waits: not at all, or a time. */
  static final Format<Duration> IN_FLIGHT =
      Format.text(
          text -> {
            if (text.equals("reject")) {
              return new Format.Parsed.Good<>(Duration.ZERO);
            }
            String wait = text.startsWith("wait ") ? text.substring("wait ".length()) : "";
            Format.Parsed<Duration> read =
                Durations.parse(wait, Duration.ofMillis(1), Duration.ofMinutes(5), "5s");
            return read instanceof Format.Parsed.Bad<Duration> bad
                ? new Format.Parsed.Bad<>("reject, or wait and " + bad.expected())
                : read;
          });

  /** Up to what the timers of the network edge can count in milliseconds. */
  static final Format<Duration> TIMEOUT = duration("1ms", "24h", "10s");

  static final Format<Boolean> TRUTH =
      new Format<>(
          Kind.TRUTH,
          text ->
              Format.orElseBad(
                  text.matches("true|True|TRUE|false|False|FALSE")
                      ? Optional.of(text.equalsIgnoreCase("true"))
                      : Optional.empty(),
                  "true or false"),
          false);

  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}");
  private static final Set<String> FRAMING =
      Set.of("host", "content-length", "content-encoding", "expect", "date", "via");

  private Formats() {}

  static Format<Duration> duration(String min, String max, String example) {
    return Durations.between(Durations.of(min), Durations.of(max), example);
  }

  /** Sizes that an int can count, both ends inclusive. */
  static Format<Integer> size(int min, int max, String example) {
    return Sizes.between(min, max, example).map(Math::toIntExact);
  }

  /** Whole numbers from {@code min} to {@code max}, both inclusive. */
  static Format<Integer> integer(int min, int max) {
    return new Format<>(
        Kind.INTEGER,
        text ->
            Format.orElseBad(
                wholeNumber(text).filter(number -> number >= min && number <= max),
                "a whole number from " + min + " to " + max),
        false);
  }

  private static Optional<Integer> wholeNumber(String text) {
    return text.matches("\\d{1,9}") ? Optional.of(Integer.parseInt(text)) : Optional.empty();
  }

  /** The constants of an enum, written in small letters. */
  static <E extends Enum<E>> Format<E> choice(Class<E> type, String remark) {
    List<E> constants = List.of(type.getEnumConstants());
    List<String> words = constants.stream().map(Formats::print).toList();
    return Format.text(
        alternatives(words) + remark,
        text -> constants.stream().filter(constant -> print(constant).equals(text)).findFirst());
  }

  static String print(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  static String alternatives(List<String> words) {
    int last = words.size() - 1;
    return last < 1
        ? String.join("", words)
        : String.join(", ", words.subList(0, last)) + " or " + words.get(last);
  }

  static Set<String> smallLetters(List<String> names) {
    return names.stream()
        .map(name -> name.toLowerCase(Locale.ROOT))
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  static Format<String> matching(String regex, String expected) {
    Predicate<String> whole = Pattern.compile(regex).asMatchPredicate();
    return Format.text(expected, text -> Optional.of(text).filter(whole));
  }

  static boolean isEndToEndField(String name) {
    return TOKEN.matcher(name).matches()
        && !HopByHop.isHopByHop(name)
        && !FRAMING.contains(name.toLowerCase(Locale.ROOT));
  }

  private static Optional<String> range(String text) {
    try {
      AddressRanges unused = AddressRanges.of(List.of(text));
      return Optional.of(text);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
