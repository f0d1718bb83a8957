package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.exchange.Admission.Admitted;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.IdempotencyKey;
import dev.idempotency.gateway.idempotency.OperationId;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names the operation that somebody knows by its route, its caller and its key, for those who look
 * for it. The parts go through {@link IdentityReader} as those of a request do, so that both always
 * make the same name of them.
 */
public final class OperationNames {

  private static final String AUTHORIZATION = "Authorization";

  /** What came of it. */
  public sealed interface Naming {

    /** That is its name. */
    record Named(OperationId id) implements Naming {}

    /**
     * What was given names nothing.
     *
     * @param reason nothing of what was given
     */
    record Unnamed(String reason) implements Naming {}
  }

  private final Headers sent = new Headers();
  private final Headers answered = new Headers();
  private final Map<String, String> claims = new HashMap<>();
  private @Nullable String subject;
  private @Nullable String user;

  private OperationNames() {}

  /**
   * Names an operation.
   *
   * @param scope the values as the client sends them, one for each part of the route's scope, in
   *     its order; where the route names none, the value of {@code Authorization}, or nothing for
   *     callers without one. Of a token it is the claim's value, of HTTP Basic also the user alone
   * @param issuer the {@code iss} of the token; empty where it has none. Looked at for claims only
   * @param key the client's key, bare or in quotes
   */
  public static Naming of(Route route, List<String> scope, String issuer, String key) {
    List<ScopePart> parts = route.callers().scope();
    String wanted = parts.isEmpty() ? "0 or 1" : Integer.toString(parts.size());
    if (parts.isEmpty() ? scope.size() > 1 : scope.size() != parts.size()) {
      return new Naming.Unnamed(
          "scope has " + scope.size() + " values (expected: " + wanted + ", as the route has it)");
    }
    IdempotencyKey.Reading read = key(route, key);
    if (!(read instanceof IdempotencyKey.Reading.Present present)) {
      return new Naming.Unnamed(
          "key is none: "
              + (read instanceof IdempotencyKey.Reading.Malformed malformed
                  ? malformed.reason()
                  : "it is missing"));
    }
    return new OperationNames().named(route, parts, scope, issuer, present.key());
  }

  private Naming named(
      Route route, List<ScopePart> parts, List<String> scope, String issuer, IdempotencyKey key) {
    if (!issuer.isEmpty()) {
      claims.put("iss", issuer);
    }
    if (parts.isEmpty()) {
      scope.forEach(value -> sent.set(AUTHORIZATION, octets(value)));
    }
    for (int i = 0; i < parts.size(); i++) {
      say(parts.get(i), scope.get(i));
    }
    if (user != null && !sent.contains(AUTHORIZATION)) {
      sent.set(AUTHORIZATION, basic(user));
    }
    Peer peer = new Peer("", "http", "1.1", true, subject);
    Admission admission = new IdentityReader(sent, peer, false, answered, claims::get).read(parts);
    return admission instanceof Admitted admitted
        ? new Naming.Named(OperationId.of(route.name(), admitted.caller().identity(), key))
        : new Naming.Unnamed("scope has a value that no caller can have");
  }

  private void say(ScopePart part, String value) {
    String field = part.field();
    if (field != null) {
      sent.set(field, octets(value));
    } else if (part instanceof ScopePart.TokenClaim claim) {
      claims.put(claim.name(), value);
    } else if (part instanceof ScopePart.CertificateSubject) {
      subject = value;
    } else if (part instanceof ScopePart.Authorized authorized) {
      answered.set(authorized.name(), octets(value));
    } else {
      user = value;
    }
  }

  private static String basic(String user) {
    String token = CredentialText.behind("Basic", user);
    if (token != null) {
      return user;
    }
    byte[] named = (user + ":").getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(named);
  }

  /** As fields carry it: one character for each octet of its UTF-8 form. */
  private static String octets(String value) {
    return new String(value.strip().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  /** Only in a field can quotes be something else than a part of the key. */
  private static IdempotencyKey.Reading key(Route route, String key) {
    boolean field = route.keys().sources().stream().anyMatch(KeySource.Header.class::isInstance);
    IdempotencyKey.Reading read = IdempotencyKey.read(key);
    return field && read instanceof IdempotencyKey.Reading.Present
        ? read
        : IdempotencyKey.readText(key);
  }
}
