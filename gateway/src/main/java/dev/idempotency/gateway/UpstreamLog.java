package dev.idempotency.gateway;

import dev.idempotency.gateway.upstream.UpstreamListener;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs what becomes of upstreams' addresses. Each of these events is rare by its nature. */
final class UpstreamLog implements UpstreamListener {

  private static final Logger LOG = LoggerFactory.getLogger(UpstreamLog.class);

  @Override
  public void ejected(String upstream, InetSocketAddress address, Duration time) {
    LOG.warn(
        "upstream {}: requests to {} fail, it is passed over for {} ms",
        upstream,
        NetUtil.toSocketAddressString(address),
        time.toMillis());
  }

  @Override
  public void returned(String upstream, InetSocketAddress address) {
    LOG.info("upstream {}: {} is used again", upstream, NetUtil.toSocketAddressString(address));
  }

  @Override
  public void health(String upstream, InetSocketAddress address, boolean good) {
    String where = NetUtil.toSocketAddressString(address);
    if (good) {
      LOG.info("upstream {}: {} passes its health checks", upstream, where);
    } else {
      LOG.warn("upstream {}: {} fails its health checks", upstream, where);
    }
  }

  @Override
  public void lookUpFailed(String upstream, String host, String why) {
    LOG.warn(
        "upstream {}: {} can't be looked up ({}); the last known addresses stay in use",
        upstream,
        host,
        why);
  }
}
