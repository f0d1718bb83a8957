package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.timeout.IdleStateEvent;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers the requests of one connection in their order: the next is read after an answer. */
final class AdminHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

  private static final Logger LOG = LoggerFactory.getLogger(AdminHandler.class);

  private final Endpoints endpoints;
  private final Executor slow;

  AdminHandler(Endpoints endpoints, Executor slow) {
    this.endpoints = endpoints;
    this.slow = slow;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    ctx.read();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
    if (request.decoderResult().isFailure()) {
      AdminResponse answer = AdminResponse.error(400, "bad-request", "This is not HTTP/1.1.");
      send(ctx, answer, true);
      return;
    }
    String path = pathOf(request.uri());
    Endpoint endpoint = endpoints.find(path);
    if (OperationsApi.has(path)) {
      later(ctx, request, path);
    } else if (endpoint == null) {
      send(ctx, AdminResponse.error(404, "not-found", "The list is at /."), false);
    } else if (!endpoint.methods().contains(request.method().name())) {
      String allowed = String.join(", ", endpoint.methods().stream().sorted().toList());
      String detail = "Allowed here: " + allowed + ".";
      AdminResponse answer = AdminResponse.error(405, "method-not-allowed", detail);
      send(ctx, answer.withAllow(allowed), false);
    } else if (endpoint.slow()) {
      offLoop(ctx, endpoint, request);
    } else {
      send(ctx, answer(endpoint, request), false);
    }
  }

  /** The store answers on this event loop, some time. */
  private void later(ChannelHandlerContext ctx, FullHttpRequest request, String path) {
    OperationsApi.Question question =
        new OperationsApi.Question(
            request.method().name(),
            path,
            query(request.uri()),
            request.headers().get(HttpHeaderNames.AUTHORIZATION),
            ByteBufUtil.getBytes(request.content()));
    CompletionStage<Void> unused =
        endpoints
            .operations()
            .answer(question, ctx.executor())
            .thenAccept(answer -> send(ctx, answer, false))
            .exceptionally(failure -> failed(ctx, path, failure));
  }

  private static @Nullable Void failed(ChannelHandlerContext ctx, String path, Throwable failure) {
    LOG.error("{} failed", path, failure);
    Transport.close(ctx.channel());
    return null;
  }

  private static Map<String, String> query(String target) {
    Map<String, String> query = new LinkedHashMap<>();
    if (target.indexOf('?') >= 0) {
      try {
        new QueryStringDecoder(target)
            .parameters()
            .forEach((name, values) -> query.put(name, values.get(0)));
      } catch (IllegalArgumentException e) {
        query.put("?", "");
      }
    }
    return query;
  }

  private static String pathOf(String target) {
    int query = target.indexOf('?');
    return query < 0 ? target : target.substring(0, query);
  }

  private void offLoop(ChannelHandlerContext ctx, Endpoint endpoint, FullHttpRequest request) {
    request.retain();
    try {
      slow.execute(
          () -> {
            try {
              AdminResponse answer = answer(endpoint, request);
              ctx.executor().execute(() -> send(ctx, answer, false));
            } finally {
              request.release();
            }
          });
    } catch (RejectedExecutionException e) {
      request.release();
      send(ctx, AdminResponse.error(503, "busy", "Stopping, or too many ask."), true);
    }
  }

  private static AdminResponse answer(Endpoint endpoint, FullHttpRequest request) {
    try {
      return endpoint.answer().apply(request);
    } catch (RuntimeException e) {
      LOG.error("{} failed", endpoint.path(), e);
      return AdminResponse.error(500, "failed", "The log says why.");
    }
  }

  private static void send(ChannelHandlerContext ctx, AdminResponse answer, boolean last) {
    DefaultFullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            Unpooled.wrappedBuffer(answer.body()));
    HttpHeaders headers = response.headers();
    headers.set(HttpHeaderNames.CONTENT_TYPE, answer.contentType());
    headers.set(HttpHeaderNames.CONTENT_LENGTH, answer.body().length);
    headers.set(HttpHeaderNames.CACHE_CONTROL, "no-store");
    headers.set("X-Content-Type-Options", "nosniff");
    if (!answer.allow().isEmpty()) {
      headers.set(HttpHeaderNames.ALLOW, answer.allow());
    }
    if (!answer.challenge().isEmpty()) {
      headers.set(HttpHeaderNames.WWW_AUTHENTICATE, answer.challenge());
    }
    if (last) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
    ctx.writeAndFlush(response)
        .addListener(
            written -> {
              if (written.isSuccess() && !last) {
                ctx.read();
              } else {
                Transport.close(ctx.channel());
              }
            });
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof IdleStateEvent) {
      Transport.close(ctx.channel());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof IOException)) {
      LOG.warn("An admin connection failed", cause);
    }
    Transport.close(ctx.channel());
  }
}
