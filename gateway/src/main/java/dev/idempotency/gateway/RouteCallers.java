package dev.idempotency.gateway;

import dev.idempotency.gateway.config.Configuration;
import dev.idempotency.gateway.config.Tokens;
import dev.idempotency.gateway.exchange.Authorizer;
import dev.idempotency.gateway.exchange.ExchangeListener;
import dev.idempotency.gateway.exchange.ForwardAuth;
import dev.idempotency.gateway.exchange.Quota;
import dev.idempotency.gateway.exchange.Route;
import dev.idempotency.gateway.exchange.ScopePart;
import dev.idempotency.gateway.exchange.TokenVerifier;
import dev.idempotency.gateway.http.AddressRanges;
import dev.idempotency.gateway.identity.JwtVerifier;
import dev.idempotency.gateway.identity.ScopeQuotas;
import dev.idempotency.gateway.upstream.HttpUpstream;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whose keys each route's are: one verifier of tokens and one quota per route for the whole
 * gateway, and one questioner of the authorisation service for each event loop.
 */
final class RouteCallers implements AutoCloseable {

  private final Configuration configuration;
  private final ExchangeListener listener;
  private final @Nullable JwtVerifier tokens;
  private final Map<Integer, Quota> quotas = new HashMap<>();

  private RouteCallers(
      Configuration configuration, ExchangeListener listener, @Nullable JwtVerifier tokens) {
    this.configuration = configuration;
    this.listener = listener;
    this.tokens = tokens;
    for (int i = 0; i < configuration.routes().size(); i++) {
      dev.idempotency.gateway.config.Quota quota = configuration.routes().get(i).quota();
      if (quota != null) {
        quotas.put(i, ScopeQuotas.create(RouteRules.quota(quota)));
      }
    }
  }

  /** Begins to fetch the keys of tokens. */
  static RouteCallers open(Configuration configuration, ExchangeListener listener)
      throws StartupException {
    Tokens tokens = configuration.tokens();
    try {
      return new RouteCallers(
          configuration,
          listener,
          tokens == null ? null : JwtVerifier.start(RouteRules.tokens(tokens)));
    } catch (IllegalArgumentException e) {
      throw new StartupException("jwt: " + e.getMessage());
    }
  }

  /** Of one route, on one event loop. */
  Route.Callers of(int index, EventLoop loop, Map<String, HttpUpstream> pools) {
    Configuration.Route route = configuration.routes().get(index);
    List<ScopePart> scope = RouteRules.scope(route);
    boolean reads = scope.stream().anyMatch(ScopePart.TokenClaim.class::isInstance);
    TokenVerifier own = tokens == null || !reads ? null : tokens.on(loop);
    return new Route.Callers(scope, own, authorizer(route, scope, loop, pools), quotas.get(index));
  }

  private @Nullable Authorizer authorizer(
      Configuration.Route route,
      List<ScopePart> scope,
      EventLoop loop,
      Map<String, HttpUpstream> pools) {
    dev.idempotency.gateway.config.ForwardAuth auth = route.forwardAuth();
    if (auth == null) {
      return null;
    }
    HttpUpstream service = pools.get(auth.upstream());
    if (service == null) {
      throw new IllegalStateException("the configuration was not validated");
    }
    return new ForwardAuth(
        route.name(),
        RouteRules.forwardAuth(auth),
        RouteRules.keys(route),
        scope,
        service,
        new LoopScheduler(loop),
        AddressRanges.of(configuration.trustedProxies()),
        listener);
  }

  /** Seconds since the keys of tokens were fetched; -1 where they never were. */
  long keysAgeSeconds() {
    return tokens == null ? -1 : tokens.keysAgeSeconds();
  }

  @Override
  public void close() {
    if (tokens != null) {
      tokens.close();
    }
  }
}
