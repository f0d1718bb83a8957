package dev.idempotency.gateway.config;

/**
 * A value that is never printed.
 *
 * @param value {@value #MIN_LENGTH} characters or more
 */
public record Secret(String value) {

  static final int MIN_LENGTH = 16;

  /** Stands for every secret in what is printed. */
  static final String MASK = "***";

  @Override
  public String toString() {
    return MASK;
  }

  /** The URL with its user information and its query masked. */
  static String maskUrl(String url) {
    int scheme = url.indexOf("://");
    int from = scheme < 0 ? 0 : scheme + 3;
    // The last @, because a password that should have been encoded may have one.
    int at = url.lastIndexOf('@');
    String masked = at < from ? url : url.substring(0, from) + MASK + url.substring(at);
    int query = scheme < 0 ? -1 : masked.indexOf('?');
    return query < 0 ? masked : masked.substring(0, query + 1) + MASK;
  }
}
