package dev.idempotency.gateway.store.redis;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Where notices come from: the one server, whoever the sentinels say is the primary, or any node of
 * a Cluster, whose nodes pass on to each other what is published.
 *
 * <p>Threading: confined to the event loop.
 */
final class NoticeSource {

  private final LoopClient client;
  private final @Nullable SentinelWatch sentinels;
  private int attempts;

  /**
   * @param moved runs when another server has become the primary
   */
  NoticeSource(RedisStoreOptions options, EventLoop loop, Runnable moved) {
    this.client = new LoopClient(options, loop, RedisLink.LIMIT);
    this.sentinels =
        client.location().kind() == Location.Kind.SENTINELS
            ? new SentinelWatch(loop, client, options.deadline(), moved)
            : null;
  }

  /** A new connection, its hands shaken. */
  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> connect() {
    if (sentinels != null) {
      return sentinels.primary().thenCompose(client::connectPubSub);
    }
    // The next time another node, should this one be gone.
    List<Endpoint> nodes = client.location().seeds();
    return client.connectPubSub(nodes.get(Math.floorMod(attempts++, nodes.size())));
  }

  CompletionStage<Void> close() {
    if (sentinels != null) {
      sentinels.close();
    }
    return client.close();
  }
}
