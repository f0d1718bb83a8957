package dev.idempotency.gateway.store.postgres;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parts of {@code postgresql://[user[:password]@]host[:port][,host[:port]…]/database[?…]}.
 *
 * <p>Of several hosts the one that takes writes is used. Behind the question mark: {@code schema}
 * (where the tables are; default {@code idempotency}), {@code sslmode} and the files {@code
 * sslrootcert}, {@code sslcert}, {@code sslkey} as PostgreSQL's own clients know them, {@code
 * application_name}, and {@code prepareThreshold} (0 where a pooler in between keeps no prepared
 * statements).
 *
 * @param hosts as written, with ports
 * @param user null where none is named
 * @param password null where none is given
 * @param schema a plain lower-case name
 * @param parameters for the driver, by its own names
 */
record PostgresUrl(
    String hosts,
    String database,
    @Nullable String user,
    @Nullable String password,
    String schema,
    Map<String, String> parameters) {

  static final String DEFAULT_SCHEMA = "idempotency";

  private static final String FORM =
      "expected: postgresql://[user[:password]@]host[:port]/database[?schema=name&sslmode=…],"
          + " special characters percent-encoded";
  private static final Pattern AUTHORITY =
      Pattern.compile("(?:(?<login>[^@]*)@)?(?<hosts>[^@/\\s]+)");
  private static final Pattern HOSTS =
      Pattern.compile("(?:[\\w.-]+|\\[[0-9A-Fa-f:.]+])(?::\\d{1,5})?");
  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  /** By the name in the URL, the driver's. */
  private static final Map<String, String> KNOWN =
      Map.of(
          "sslmode", "sslmode",
          "sslrootcert", "sslrootcert",
          "sslcert", "sslcert",
          "sslkey", "sslkey",
          "application_name", "ApplicationName",
          "prepareThreshold", "prepareThreshold");

  private static final Set<String> SCHEMES = Set.of("postgresql", "postgres");

  PostgresUrl {
    parameters = Map.copyOf(parameters);
  }

  /** Throws {@link IllegalArgumentException} that never repeats the URL. */
  static PostgresUrl parse(String url) {
    URI uri = uri(url);
    String authority = uri.getRawAuthority();
    String path = uri.getRawPath();
    var split = AUTHORITY.matcher(authority == null ? "" : authority);
    require(SCHEMES.contains(String.valueOf(uri.getScheme())) && split.matches());
    require(path != null && path.length() > 1 && path.indexOf('/', 1) < 0);
    require(uri.getRawFragment() == null);
    String hosts = split.group("hosts");
    for (String host : hosts.split(",", -1)) {
      require(HOSTS.matcher(host).matches());
    }
    String login = split.group("login");
    int colon = login == null ? -1 : login.indexOf(':');
    Map<String, String> query = query(uri.getRawQuery());
    String schema = query.remove("schema");
    return new PostgresUrl(
        hosts,
        decoded(String.valueOf(path).substring(1)),
        login == null ? null : decoded(colon < 0 ? login : login.substring(0, colon)),
        login == null || colon < 0 ? null : decoded(login.substring(colon + 1)),
        checked(schema == null ? DEFAULT_SCHEMA : schema),
        query);
  }

  private static URI uri(String url) {
    try {
      return new URI(url);
    } catch (URISyntaxException e) {
      throw malformed();
    }
  }

  private static String checked(String schema) {
    if (!SCHEMA.matcher(schema).matches() || schema.startsWith("pg_")) {
      throw new IllegalArgumentException(
          "schema " + schema + " (expected: a lower-case name of letters, digits and _, not pg_…)");
    }
    return schema;
  }

  private static Map<String, String> query(@Nullable String raw) {
    Map<String, String> query = new TreeMap<>();
    for (String pair : raw == null ? new String[0] : raw.split("&", -1)) {
      int equals = pair.indexOf('=');
      require(equals > 0);
      String name = decoded(pair.substring(0, equals));
      String known = name.equals("schema") ? name : KNOWN.get(name);
      if (known == null) {
        throw new IllegalArgumentException(
            "parameter "
                + name
                + " of the PostgreSQL URL is not known (expected: schema, "
                + String.join(", ", new TreeMap<>(KNOWN).keySet())
                + ")");
      }
      query.put(known, decoded(pair.substring(equals + 1)));
    }
    return query;
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw malformed();
    }
  }

  private static void require(boolean wellFormed) {
    if (!wellFormed) {
      throw malformed();
    }
  }

  private static IllegalArgumentException malformed() {
    return new IllegalArgumentException("not a PostgreSQL URL (" + FORM + ")");
  }

  /** Without the password. */
  String masked() {
    return "postgresql://" + (user == null ? "" : "***@") + hosts + "/" + database;
  }

  /** Without the password. */
  @Override
  public String toString() {
    return masked();
  }
}
