package dev.idempotency.gateway.config;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.idempotency.gateway.config.Format.Parsed;
import dev.idempotency.gateway.idempotency.KeyPattern;

/**
 * Keys that match a regular expression as a whole. The syntax is RE2's, which has no
 * back-references and needs time in proportion to the key's length whatever the expression is: a
 * client must not be able to choose a key that takes minutes.
 */
public final class RegexPattern implements KeyPattern {

  static final int MOST = 1024;

  private final Pattern pattern;

  private RegexPattern(Pattern pattern) {
    this.pattern = pattern;
  }

  /** The pattern of an expression that the file's reader has accepted. */
  public static KeyPattern of(String regex) {
    return new RegexPattern(Pattern.compile(regex));
  }

  /** Whether the expression is one. */
  static Parsed<String> parse(String regex) {
    if (regex.length() > MOST) {
      return new Parsed.Bad<>("a regular expression of at most " + MOST + " characters");
    }
    try {
      Pattern unused = Pattern.compile(regex);
      return new Parsed.Good<>(regex);
    } catch (PatternSyntaxException e) {
      return new Parsed.Bad<>("a regular expression in the syntax of RE2: " + e.getMessage());
    }
  }

  @Override
  public String expected() {
    return "a key that matches /" + pattern.pattern() + '/';
  }

  @Override
  public String regex() {
    return pattern.pattern();
  }

  @Override
  public boolean matches(String key) {
    return pattern.matches(key);
  }
}
