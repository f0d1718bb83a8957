package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Cors;
import dev.idempotency.gateway.config.Envelope;
import dev.idempotency.gateway.config.Fingerprinting;
import dev.idempotency.gateway.config.ForwardAuth;
import dev.idempotency.gateway.config.Operators;
import dev.idempotency.gateway.config.OutsideSecret;
import dev.idempotency.gateway.config.Probe;
import dev.idempotency.gateway.config.Quota;
import dev.idempotency.gateway.config.RegexPattern;
import dev.idempotency.gateway.config.ResponseCopy;
import dev.idempotency.gateway.config.RouteKey;
import dev.idempotency.gateway.config.Safety;
import dev.idempotency.gateway.config.Scope;
import dev.idempotency.gateway.config.Secret;
import dev.idempotency.gateway.config.Tokens;
import dev.idempotency.gateway.config.Waiting;
import dev.idempotency.gateway.exchange.AnswerRule;
import dev.idempotency.gateway.exchange.CopyRule;
import dev.idempotency.gateway.exchange.ForwardAuthOptions;
import dev.idempotency.gateway.exchange.KeyRule;
import dev.idempotency.gateway.exchange.KeySource;
import dev.idempotency.gateway.exchange.ProbeRule;
import dev.idempotency.gateway.exchange.QuotaOptions;
import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.exchange.Upstream;
import dev.idempotency.gateway.fingerprint.FingerprintRule;
import dev.idempotency.gateway.fingerprint.JsonKey;
import dev.idempotency.gateway.fingerprint.JsonRedactor;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.KeyForm;
import dev.idempotency.gateway.idempotency.KeyPattern;
import dev.idempotency.gateway.idempotency.KeySyntax;
import dev.idempotency.gateway.identity.StructuredFieldKey;
import dev.idempotency.gateway.identity.TokenOptions;
import dev.idempotency.gateway.operations.OperatorOptions;
import dev.idempotency.gateway.store.envelope.EnvelopeOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The configuration's routes in the words of the centre, and of those who serve it. */
final class RouteRules {

  private RouteRules() {}

  static KeyRule keys(Configuration.Route route) {
    RouteKey key = route.key();
    return new KeyRule(
        key.sources().stream().map(source -> source(source, route.requestLimit())).toList(),
        syntax(key.syntax()),
        pattern(key.form()),
        key.hasAge() ? new KeyRule.KeyAge(key.firstSent(), route.retention(), key.skew()) : null,
        key.derive());
  }

  /**
   * @param decodedLimit most bytes of a body whose content coding is undone
   */
  private static KeySource source(RouteKey.Source source, long decodedLimit) {
    if (source instanceof RouteKey.Source.Query query) {
      return new KeySource.Query(query.name());
    }
    if (source instanceof RouteKey.Source.Pointer pointer) {
      return new KeySource.Pointer(pointer.pointer(), new JsonKey(pointer.pointer(), decodedLimit));
    }
    return new KeySource.Header(((RouteKey.Source.Header) source).name());
  }

  private static KeySyntax syntax(RouteKey.Syntax syntax) {
    return syntax == RouteKey.Syntax.STRICT ? StructuredFieldKey.STRICT : KeySyntax.LENIENT;
  }

  private static KeyPattern pattern(RouteKey.Form form) {
    return switch (form.kind()) {
      case ANY -> KeyPattern.ANY;
      case UUID -> KeyForm.UUID;
      case UUID7 -> KeyForm.UUID7;
      case ULID -> KeyForm.ULID;
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

  /** What counts in a route's fingerprints: also the field that says when it was sent first. */
  static Fingerprinting counted(Configuration.Route route) {
    Fingerprinting rule = route.fingerprint();
    String firstSent = route.key().firstSent();
    if (firstSent == null || rule.headers().stream().anyMatch(firstSent::equalsIgnoreCase)) {
      return rule;
    }
    List<String> headers = new ArrayList<>(rule.headers());
    headers.add(firstSent);
    return new Fingerprinting(
        rule.body(), rule.ignore(), rule.only(), headers, rule.query(), rule.version());
  }

  /**
   * @param decodedLimit most bytes of a body whose content coding is undone
   */
  static FingerprintRule fingerprint(Fingerprinting rule, List<Secret> secrets, long decodedLimit) {
    return new FingerprintRule(
        rule.headers(),
        rule.ignore(),
        rule.only(),
        rule.query(),
        rule.body() == Fingerprinting.Body.RAW,
        secrets.stream().map(secret -> secret.value().getBytes(StandardCharsets.UTF_8)).toList(),
        rule.version(),
        decodedLimit);
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

  static Route.Waiting waiting(Waiting waiting) {
    return new Route.Waiting(waiting.patience(), waiting.longest(), waiting.perKey());
  }

  /**
   * @param upstreams those of one event loop, by name
   */
  static Route.Safety safety(Safety safety, Map<String, ? extends Upstream> upstreams) {
    Probe probe = safety.probe();
    return new Route.Safety(
        safety.durability(), safety.guard(), probe == null ? null : probe(probe, upstreams));
  }

  private static ProbeRule probe(Probe probe, Map<String, ? extends Upstream> upstreams) {
    Upstream asked = upstreams.get(probe.upstream());
    if (asked == null) {
      throw new IllegalStateException("the configuration was not validated");
    }
    Headers headers = new Headers();
    probe.headers().forEach((name, secret) -> headers.add(name, secret.value()));
    return new ProbeRule(
        probe.url(),
        asked,
        probe.timeout(),
        probe.completed(),
        probe.never(),
        probe.onNever() == Probe.OnNever.RERUN,
        probe.grace(),
        probe.status(),
        headers,
        probe.backOff(),
        probe.longest());
  }

  static OperatorOptions operators(Configuration configuration) {
    Operators operators = configuration.operators();
    if (operators == null) {
      return OperatorOptions.NOBODY;
    }
    Tokens tokens = configuration.tokens();
    String issuer = tokens == null ? null : tokens.issuer();
    return new OperatorOptions(
        value(operators.read()),
        value(operators.write()),
        operators.bodies(),
        issuer == null ? "" : issuer);
  }

  private static @Nullable String value(@Nullable OutsideSecret secret) {
    return secret == null ? null : secret.value();
  }

  static EnvelopeOptions envelope(Envelope envelope) {
    return new EnvelopeOptions(
        envelope.keys().stream()
            .map(key -> new EnvelopeOptions.Key(key.id(), key.bytes()))
            .toList(),
        envelope.compressFrom());
  }
}
