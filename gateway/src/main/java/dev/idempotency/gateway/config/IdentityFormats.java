package dev.idempotency.gateway.config;

import dev.idempotency.gateway.config.Format.Parsed;
import dev.idempotency.gateway.config.RouteKey.Form;
import dev.idempotency.gateway.config.RouteKey.Source;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** The formats of what says whose key it is and where it comes from. */
final class IdentityFormats {

  static final Format<Scope> SCOPE =
      Format.text(
          "credential, credential:NAME, header:NAME, jwt:CLAIM, certificate:subject, basic:user or"
              + " auth:NAME, such as credential or header:X-Tenant",
          IdentityFormats::scope);

  static final Format<String> PARAMETER =
      Formats.matching(
          "[^\\p{Cntrl}]{1,128}", "the name of a parameter of the query such as request_id");

  static final Format<Source> SOURCE =
      Format.text(
          "header:NAME, query:NAME or pointer:POINTER, such as header:Idempotency-Key",
          IdentityFormats::source);

  /** What a key must look like; an expression is told from a word by its slashes. */
  static final Format<Form> FORM = Format.text(IdentityFormats::form);

  /** What tokens say of themselves. */
  static final Format<String> WORD =
      Formats.matching("[!-~]{1,512}", "visible ASCII such as https://idp.example.com");

  static final Format<String> KEY_SET =
      Format.text(
          "a URL such as https://idp.example.com/jwks.json, without a user, or the path of a file",
          text -> Optional.of(text).filter(IdentityFormats::isKeySet));

  static final Format<String> ALGORITHM = Format.text(IdentityFormats::algorithm);

  static final Format<String> AUTH_PATH =
      Formats.matching("/[!\"$->@-~]{0,1023}", "a path such as /check, without a query");

  static final Format<String> ORIGIN =
      Format.text(
          "an origin such as https://app.example.com, without a path, or *",
          IdentityFormats::origin);

  private static final List<String> ALGORITHMS =
      List.of(
          "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA");
  private static final Pattern CLAIM = Pattern.compile("[!-~]{1,128}");
  private static final Pattern ORIGIN_FORM =
      Pattern.compile(
          "[a-z][a-z0-9+.-]{0,31}://(?:[a-z0-9._-]{1,253}|\\[[0-9a-f:.]{2,45}])(?::[0-9]{1,5})?");

  private IdentityFormats() {}

  private static Optional<Scope> scope(String text) {
    int colon = text.indexOf(':');
    String kind = colon < 0 ? text : text.substring(0, colon + 1);
    String name = text.substring(colon + 1);
    return switch (kind) {
      case "credential" -> Optional.of(new Scope.Credential(Scope.AUTHORIZATION));
      case "credential:" -> credential(name);
      case "header:" -> isCredential(name) ? credential(name) : field(name).map(Scope.Header::new);
      case "jwt:" -> Optional.of(name).filter(CLAIM.asMatchPredicate()).map(Scope.TokenClaim::new);
      case "auth:" -> field(name).map(Scope.Authorized::new);
      case "certificate:" ->
          name.equals("subject") ? Optional.of(new Scope.CertificateSubject()) : Optional.empty();
      case "basic:" -> name.equals("user") ? Optional.of(new Scope.BasicUser()) : Optional.empty();
      default -> Optional.empty();
    };
  }

  private static Optional<String> field(String name) {
    return Optional.of(name).filter(Formats::isEndToEndField);
  }

  /** Fields that prove who the caller is, however they are written. */
  private static boolean isCredential(String name) {
    return name.equalsIgnoreCase(Scope.AUTHORIZATION)
        || name.equalsIgnoreCase("Proxy-Authorization")
        || name.equalsIgnoreCase("Cookie");
  }

  private static Optional<Scope> credential(String name) {
    if (name.equalsIgnoreCase(Scope.AUTHORIZATION)) {
      return Optional.of(new Scope.Credential(Scope.AUTHORIZATION));
    }
    // The one that is of a single hop and all the same about the caller.
    return Optional.of(name)
        .filter(field -> Formats.isEndToEndField(field) || isCredential(field))
        .map(Scope.Credential::new);
  }

  private static Optional<Source> source(String text) {
    int colon = text.indexOf(':');
    String name = text.substring(colon + 1);
    return switch (text.substring(0, colon + 1)) {
      case "header:" -> field(name).map(Source.Header::new);
      case "query:" -> read(PARAMETER, name).map(Source.Query::new);
      case "pointer:" -> read(Formats.POINTER, name).map(Source.Pointer::new);
      default -> Optional.empty();
    };
  }

  private static Optional<String> read(Format<String> format, String text) {
    return format.parser().apply(text) instanceof Parsed.Good<String> good
        ? Optional.of(good.value())
        : Optional.empty();
  }

  private static Parsed<Form> form(String text) {
    if (text.length() > 2 && text.startsWith("/") && text.endsWith("/")) {
      Parsed<String> regex = RegexPattern.parse(text.substring(1, text.length() - 1));
      return regex instanceof Parsed.Good<String> good
          ? new Parsed.Good<>(new Form(Form.Kind.REGEX, good.value()))
          : new Parsed.Bad<>(((Parsed.Bad<String>) regex).expected());
    }
    return switch (text) {
      case "uuid" -> new Parsed.Good<>(new Form(Form.Kind.UUID, ""));
      case "uuid7" -> new Parsed.Good<>(new Form(Form.Kind.UUID7, ""));
      case "ulid" -> new Parsed.Good<>(new Form(Form.Kind.ULID, ""));
      default ->
          new Parsed.Bad<>("uuid, uuid7, ulid or a regular expression such as /[A-Z]{3}-[0-9]+/");
    };
  }

  static boolean isUrl(String keys) {
    return keys.contains("://");
  }

  private static boolean isKeySet(String text) {
    if (!isUrl(text)) {
      return !text.isBlank();
    }
    try {
      URI uri = new URI(text);
      String scheme = uri.getScheme();
      return ("http".equals(scheme) || "https".equals(scheme))
          && uri.getHost() != null
          && uri.getRawUserInfo() == null
          && uri.getRawFragment() == null;
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private static Parsed<String> algorithm(String text) {
    if (ALGORITHMS.contains(text)) {
      return new Parsed.Good<>(text);
    }
    String reason =
        text.startsWith("HS")
            ? "; with " + text + " whoever can verify tokens can make them as well"
            : text.equalsIgnoreCase("none") ? "; tokens without a signature prove nothing" : "";
    return new Parsed.Bad<>(Formats.alternatives(ALGORITHMS) + reason);
  }

  /** As browsers send it: small letters, no port where it is the scheme's own (RFC 6454 §6.2). */
  private static Optional<String> origin(String text) {
    String small = text.toLowerCase(Locale.ROOT);
    if (small.equals(Cors.ANY)) {
      return Optional.of(small);
    }
    return Optional.of(small)
        .filter(ORIGIN_FORM.asMatchPredicate())
        .map(
            origin ->
                origin.startsWith("https://")
                    ? origin.replaceFirst(":443$", "")
                    : origin.startsWith("http://") ? origin.replaceFirst(":80$", "") : origin);
  }
}
