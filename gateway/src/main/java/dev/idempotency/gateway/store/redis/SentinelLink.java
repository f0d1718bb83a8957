package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.StoreFinding;
import dev.idempotency.gateway.store.redis.RedisLink.Neighbours;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The way to whichever server is the primary, over the same link; moves when that changes. */
final class SentinelLink implements Link {

  private final SentinelWatch sentinels;
  private final RedisLink link;

  SentinelLink(
      EventLoop loop, LoopClient client, byte[] probeKey, Terms terms, Neighbours neighbours) {
    this.sentinels = new SentinelWatch(loop, client, terms.deadline(), this::move);
    Target target = new SentinelTarget(client, sentinels, probeKey);
    this.link = new RedisLink(loop, target, terms, neighbours);
  }

  private void move() {
    link.move("the sentinels name another primary");
  }

  @Override
  public void open() {
    link.open();
  }

  @Override
  public <R> CompletionStage<R> send(Call<R> call) {
    return link.send(call);
  }

  @Override
  public boolean reachable() {
    return link.reachable();
  }

  @Override
  public String detail() {
    return link.detail();
  }

  @Override
  public List<StoreFinding> findings() {
    return link.findings();
  }

  @Override
  public long evictions() {
    return link.evictions();
  }

  @Override
  public long sinceLoss(byte[] key) {
    return link.sinceLoss(key);
  }

  @Override
  public CompletionStage<Void> close() {
    sentinels.close();
    return link.close();
  }
}
