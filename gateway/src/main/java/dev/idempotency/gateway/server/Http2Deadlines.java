package dev.idempotency.gateway.server;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2LocalFlowController;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/** The times within which a client has to go on, looked at some times a second. */
final class Http2Deadlines {

  private final Http2Handler handler;
  private final ServerOptions options;
  private final Http2FrameWatch watch;
  private final Outbound outbound = new Outbound();
  private final long began;
  private long busyAt;
  private long windowMovedAt;
  private boolean acknowledged;

  Http2Deadlines(Http2Handler handler, ServerOptions options, Http2FrameWatch watch, long now) {
    this.handler = handler;
    this.options = options;
    this.watch = watch;
    this.began = now;
    this.busyAt = now;
    this.windowMovedAt = now;
  }

  /** A stream opened or closed. */
  void busy() {
    busyAt = System.nanoTime();
  }

  void settingsAcknowledged() {
    acknowledged = true;
  }

  /** Whether the client surely knows what it may do. */
  boolean isAcknowledged() {
    return acknowledged;
  }

  /** The client takes more, of one stream or of all of them. */
  void windowOpened(@Nullable Http2Stream wire) {
    long now = System.nanoTime();
    Http2ClientStream stream = handler.streamOf(wire);
    if (stream != null) {
      stream.progress.responseMoved(now);
    } else if (wire != null && wire.id() == 0) {
      windowMovedAt = now;
    }
  }

  /** Whether the client has taken nothing at all for too long, although something waits. */
  boolean isStuck(Channel channel, long now) {
    outbound.look(channel, now);
    return outbound.stalledFor(now) > options.bodyTimeout().toNanos();
  }

  /** Ends what is overdue. {@link #isStuck} was asked before. */
  void look(long now) {
    if (watch.unfinishedFor(now) > options.headTimeout().toNanos()) {
      handler.end(Http2Error.ENHANCE_YOUR_CALM, "a frame or field block was not complete in time");
    } else if (!acknowledged && now - began > options.headTimeout().toNanos()) {
      handler.end(Http2Error.SETTINGS_TIMEOUT, "settings were not acknowledged in time");
    } else {
      lookAtStreams(now);
    }
  }

  private void lookAtStreams(long now) {
    Http2Connection connection = handler.connection();
    if (connection.numActiveStreams() > 0 || !outbound.isEmpty()) {
      busyAt = now;
    } else if (now - busyAt > options.idleTimeout().toNanos()) {
      handler.drain();
      return;
    }
    boolean[] waits = {false};
    try {
      connection.forEachActiveStream(
          wire -> {
            Http2ClientStream stream = handler.streamOf(wire);
            if (stream != null) {
              lookAtBody(stream, now);
              waits[0] |= lookAtResponse(stream, now);
            }
            return true;
          });
    } catch (Http2Exception e) {
      throw new IllegalStateException("the visitor throws none", e);
    }
    if (!waits[0]) {
      windowMovedAt = now;
    } else if (now - windowMovedAt > options.bodyTimeout().toNanos()) {
      handler.end(Http2Error.ENHANCE_YOUR_CALM, "the window of the connection stays closed");
    }
  }

  private void lookAtBody(Http2ClientStream stream, long now) {
    Http2Body body = stream.body();
    if (body.isComplete() || stream.isOver()) {
      return;
    }
    Http2LocalFlowController windows = handler.decoder().flowController();
    int id = stream.wire().id();
    long bytes = body.bytes() + (watch.dataStream() == id ? watch.dataBytes() : 0);
    boolean closed =
        windows.windowSize(stream.wire()) <= 0
            || windows.windowSize(handler.connection().connectionStream()) <= 0;
    boolean reading = !body.isHeldBack() && !closed;
    if (stream.progress.isBodyLate(bytes, reading, now)) {
      stream.timeOut();
    }
  }

  /** Gives whether the response waits for the window of the whole connection. */
  private boolean lookAtResponse(Http2ClientStream stream, long now) {
    Http2RemoteFlowController windows = handler.encoder().flowController();
    Http2Stream wire = stream.wire();
    boolean unfinished = (stream.isBegun() && !stream.isOver()) || windows.hasFlowControlled(wire);
    boolean shut = windows.windowSize(handler.connection().connectionStream()) <= 0;
    if (!unfinished || shut || windows.windowSize(wire) > 0) {
      stream.progress.responseMoved(now);
    } else if (stream.progress.responseStall(now) > options.bodyTimeout().toNanos()) {
      handler.reset(wire, Http2Error.CANCEL);
    }
    return unfinished && shut;
  }
}
