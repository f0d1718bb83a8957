package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.store.redis.RedisLink.Neighbours;
import io.netty.channel.EventLoop;

/** The way to Redis that a URL asks for. */
final class Links {

  /** One server has none: what it can't do itself is not done. */
  private static final Neighbours NONE =
      new Neighbours() {
        @Override
        public boolean refused(RedisLink link, Call<?> call, String error) {
          return false;
        }

        @Override
        public void unreachable() {}
      };

  private Links() {}

  /** A way that is not yet opened. */
  static Link to(LoopClient client, EventLoop loop, KeyNames names, Terms terms) {
    return switch (client.location().kind()) {
      case CLUSTER -> new ClusterLink(loop, client, names, terms);
      case SENTINELS -> new SentinelLink(loop, client, names.named("probe"), terms, NONE);
      case SERVER -> {
        Endpoint server = client.location().seeds().get(0);
        Target target = new ServerTarget(client, server, names.named("probe"));
        yield new RedisLink(loop, target, terms, NONE);
      }
    };
  }
}
