package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Cors;
import dev.idempotency.gateway.config.Envelope;
import dev.idempotency.gateway.config.Fingerprinting;
import dev.idempotency.gateway.config.ForwardAuth;
import dev.idempotency.gateway.config.Quota;
import dev.idempotency.gateway.config.RegexPattern;
import dev.idempotency.gateway.config.ResponseCopy;
import dev.idempotency.gateway.config.RouteKey;
import dev.idempotency.gateway.config.Scope;
import dev.idempotency.gateway.config.Secret;
import dev.idempotency.gateway.config.Tokens;
import dev.idempotency.gateway.exchange.AnswerRule;
import dev.idempotency.gateway.exchange.CopyRule;
import dev.idempotency.gateway.exchange.ForwardAuthOptions;
import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.KeySource;
import dev.idempotency.gateway.exchange.QuotaOptions;
import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.fingerprint.FingerprintRule;
import dev.idempotency.gateway.fingerprint.JsonRedactor;
import dev.idempotency.gateway.idempotency.IdempotencyKey.Reading;
import dev.idempotency.gateway.idempotency.KeyInBody;
import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.idempotency.KeySyntax;
import dev.idempotency.gateway.identity.TokenOptions;
import dev.idempotency.gateway.store.envelope.EnvelopeOptions;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The configuration's routes in the words of the centre, and of those who serve it. */
final class RouteRules {

  private static final KeyPattern UUID =
      RegexPattern.of("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  private static final KeyPattern UUID7 =
      RegexPattern.of("(?i)[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  private static final KeyPattern ULID = RegexPattern.of("(?i)[0-7][0-9a-hjkmnp-tv-z]{25}");

  private RouteRules() {}

  static KeyRule keys(Configuration.Route route) {
    RouteKey key = route.key();
    return new KeyRule(
        key.sources().stream().map(RouteRules::source).toList(),
        KeySyntax.LENIENT,
        pattern(key.form()),
        key.hasAge() ? new KeyRule.KeyAge(key.firstSent(), route.retention(), key.skew()) : null,
        key.derive());
  }

  private static KeySource source(RouteKey.Source source) {
    if (source instanceof RouteKey.Source.Query query) {
      return new KeySource.Query(query.name());
    }
    if (source instanceof RouteKey.Source.Pointer pointer) {
      return new KeySource.Pointer(pointer.pointer(), body(pointer.pointer()));
    }
    return new KeySource.Header(((RouteKey.Source.Header) source).name());
  }

  /** Nothing is forwarded where the key in the body is not looked for. */
  private static KeyInBody body(String pointer) {
    return (head, body) -> new Reading.Malformed("it is in the body, at " + pointer);
  }

  private static KeyPattern pattern(RouteKey.Form form) {
    return switch (form.kind()) {
      case ANY -> KeyPattern.ANY;
      case UUID -> UUID;
      case UUID7 -> UUID7;
      case ULID -> ULID;
      case REGEX -> RegexPattern.of(form.regex());
    };
  }

  static List<ScopePart> scope(Configuration.Route route) {
    return route.scope().stream().map(RouteRules::part).toList();
  }

  private static ScopePart part(Scope scope) {
    if (scope instanceof Scope.Header header) {
      return new ScopePart.Header(header.name());
    }
    if (scope instanceof Scope.Credential credential) {
      return new ScopePart.Credential(credential.name());
    }
    if (scope instanceof Scope.TokenClaim claim) {
      return new ScopePart.TokenClaim(claim.name());
    }
    if (scope instanceof Scope.Authorized authorized) {
      return new ScopePart.Authorized(authorized.name());
    }
    return scope instanceof Scope.BasicUser
        ? new ScopePart.BasicUser()
        : new ScopePart.CertificateSubject();
  }

  static QuotaOptions quota(Quota quota) {
    return new QuotaOptions(quota.newKeys(), quota.within(), quota.unfinished());
  }

  static ForwardAuthOptions forwardAuth(ForwardAuth auth) {
    return new ForwardAuthOptions(
        auth.path(),
        auth.timeout(),
        auth.cache(),
        auth.onFailure() == ForwardAuth.OnFailure.ALLOW,
        auth.copy());
  }

  static TokenOptions tokens(Tokens tokens) {
    return new TokenOptions(
        tokens.keys(),
        tokens.issuer(),
        Set.copyOf(tokens.audience()),
        Set.copyOf(tokens.algorithms()),
        tokens.leeway(),
        tokens.refresh(),
        tokens.authorities());
  }

  static FingerprintRule fingerprint(Fingerprinting rule, List<Secret> secrets) {
    byte @Nullable [] secret =
        secrets.isEmpty() ? null : secrets.get(0).value().getBytes(StandardCharsets.UTF_8);
    return new FingerprintRule(
        rule.headers(), rule.ignore(), rule.body() == Fingerprinting.Body.RAW, secret);
  }

  static CopyRule copy(ResponseCopy copy) {
    return new CopyRule(copy.keep(), copy.drop(), JsonRedactor.of(copy.redact()), copy.expires());
  }

  static AnswerRule answers(Configuration.Route route) {
    Cors cors = route.cors();
    return new AnswerRule(
        AnswerRule.Style.valueOf(route.errors().name()),
        cors == null ? null : new AnswerRule.Cors(cors.origins(), cors.credentials()));
  }

  static EnvelopeOptions envelope(Envelope envelope) {
    return new EnvelopeOptions(
        envelope.keys().stream()
            .map(key -> new EnvelopeOptions.Key(key.id(), key.bytes()))
            .toList(),
        envelope.compressFrom());
  }
}
