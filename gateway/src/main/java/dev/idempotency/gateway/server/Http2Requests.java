package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Exchange;
import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.exchange.Peer;
import dev.idempotency.gateway.exchange.Problems;
import dev.idempotency.gateway.exchange.Result;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;

/** Opens the exchanges of the requests that come on one connection, and hands them their bodies. */
final class Http2Requests extends Http2FrameAdapter {

  private final Http2Handler connection;
  private final ServerOptions options;
  private final Exchanges exchanges;
  private final Peer peer;
  private final RequestHeads heads;

  Http2Requests(Http2Handler connection, ServerOptions options, Exchanges exchanges, Peer peer) {
    this.connection = connection;
    this.options = options;
    this.exchanges = exchanges;
    this.peer = peer;
    this.heads = new RequestHeads(options, peer.scheme());
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext ctx,
      int streamId,
      Http2Headers block,
      int dependency,
      short weight,
      boolean exclusive,
      int padding,
      boolean end)
      throws Http2Exception {
    Http2Stream wire = connection.connection().stream(streamId);
    Http2ClientStream known = connection.streamOf(wire);
    if (known != null) {
      // Trailers: they end the request, and are not passed on.
      known.body().end();
      connection.delivered(known);
      return;
    }
    connection.allowance().earnRequest();
    if (!connection.hasPlace()) {
      throw Http2Exception.streamError(
          streamId, Http2Error.REFUSED_STREAM, "more exchanges than are allowed at once");
    }
    open(wire, block, end);
  }

  private void open(Http2Stream wire, Http2Headers block, boolean end) {
    Http2Heads.Reading reading = Http2Heads.read(block);
    if (reading instanceof Http2Heads.Reading.Bad bad) {
      String method = block.method() == null ? "" : block.method().toString();
      refuse(wire, method, "", end, Problems.badRequest(bad.detail()).toResponse());
      return;
    }
    Http2Heads.Reading.Good good = (Http2Heads.Reading.Good) reading;
    if (good.target().length() > options.targetBytes()) {
      refuse(wire, good.method(), "", end, Refusals.uriTooLong());
      return;
    }
    RequestHeads.Verdict verdict =
        heads.judge(good.method(), null, good.target(), good.headers(), true);
    if (verdict instanceof RequestHeads.Verdict.Good judged) {
      open(wire, judged.head(), end);
    } else if (verdict instanceof RequestHeads.Verdict.Answered answered) {
      exchanges.answered(good.method(), good.target(), Result.PASSED, answered.response().status());
      answer(wire, good.method(), end, answered.response());
    } else {
      Response answer = ((RequestHeads.Verdict.Refused) verdict).response();
      refuse(wire, good.method(), good.target(), end, answer);
    }
  }

  private void open(Http2Stream wire, RequestHead head, boolean end) {
    Headers headers = head.headers();
    String announced = headers.get("content-length");
    // The codec has checked that it is a number, and compares it with what comes.
    long length = end ? 0 : announced == null ? -1 : Long.parseLong(announced);
    Http2ClientStream stream =
        new Http2ClientStream(
            connection, wire, head.method().equals("HEAD"), !end && headers.contains("expect"));
    connection.opened(wire, stream);
    Exchange exchange = exchanges.open(head, length, peer, stream);
    stream.opened(exchange);
    if (end) {
      stream.body().end();
    }
    connection.delivered(stream);
  }

  private void refuse(
      Http2Stream wire, String method, String target, boolean end, Response response) {
    exchanges.answered(method, target, Result.BAD_REQUEST, response.status());
    answer(wire, method, end, response);
  }

  private void answer(Http2Stream wire, String method, boolean end, Response response) {
    Http2ClientStream stream =
        new Http2ClientStream(connection, wire, method.equals("HEAD"), false);
    connection.opened(wire, stream);
    if (end) {
      stream.body().end();
    }
    stream.respond(response);
  }

  @Override
  public int onDataRead(
      ChannelHandlerContext ctx, int streamId, ByteBuf data, int padding, boolean end) {
    Http2ClientStream stream = connection.streamOf(connection.connection().stream(streamId));
    if (stream == null) {
      return data.readableBytes() + padding;
    }
    int taken = stream.body().take(data, end);
    connection.delivered(stream);
    return taken + padding;
  }

  @Override
  public void onRstStreamRead(ChannelHandlerContext ctx, int streamId, long error)
      throws Http2Exception {
    if (!connection.allowance().takeReset(System.nanoTime())) {
      throw Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, "too many resets");
    }
  }

  @Override
  public void onWindowUpdateRead(ChannelHandlerContext ctx, int streamId, int increment) {
    connection.deadlines().windowOpened(connection.connection().stream(streamId));
  }

  @Override
  public void onSettingsAckRead(ChannelHandlerContext ctx) {
    connection.settingsAcknowledged();
  }

  @Override
  public void onPingAckRead(ChannelHandlerContext ctx, long content) {
    connection.pingAcknowledged(content);
  }
}
