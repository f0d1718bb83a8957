package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Exchanges;
import dev.idempotency.gateway.transport.OnePieceResponseEncoder;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.util.function.Function;

/**
 * The protocols that a client's connection can speak: puts the handlers of the one that was chosen
 * at the end of the pipeline, as soon as it is known which one that is.
 *
 * <p>Threading: the event loop of the channel.
 */
final class Protocols {

  private static final int MOST_HELD_FLUSHES = 64;

  private final HttpServer server;
  private final ServerOptions options;
  private final Function<EventLoop, Exchanges> exchanges;

  Protocols(HttpServer server, ServerOptions options, Function<EventLoop, Exchanges> exchanges) {
    this.server = server;
    this.options = options;
    this.exchanges = exchanges;
  }

  /**
   * For a clear connection: HTTP/1.1, or where {@code http2} is true whichever of the two the
   * client's first bytes are (RFC 9113 §3.3). There is no upgrade from one to the other.
   */
  void installClear(Channel channel, Caller caller, boolean http2) {
    if (http2) {
      PriorKnowledge choice = new PriorKnowledge(server, options, this, caller);
      server.opened(choice, channel);
      channel.pipeline().addLast(choice);
    } else {
      installHttp1(channel, caller);
    }
  }

  /** There was no place for the connection. */
  void refused(Channel channel) {
    exchanges.apply(channel.eventLoop()).connectionRefused();
  }

  void installHttp1(Channel channel, Caller caller) {
    RequestDecoder decoder = new RequestDecoder(options);
    Http1Handler handler =
        new Http1Handler(
            server,
            options,
            decoder,
            exchanges.apply(channel.eventLoop()),
            new Http1Handler.Peers(caller.speaking("1.1"), caller.speaking("1.0")));
    server.opened(handler, channel);
    channel.pipeline().addLast(decoder, new OnePieceResponseEncoder(), handler);
  }

  /** The client's preface is still to come through the pipeline (RFC 9113 §3.4). */
  void installHttp2(Channel channel, Caller caller) {
    Http2Handler handler =
        Http2HandlerBuilder.build(
            server, options, exchanges.apply(channel.eventLoop()), caller.speaking("2.0"));
    server.opened(handler, channel);
    // The answers of one turn of the loop go out together: in fewer TLS records and system calls.
    channel.pipeline().addLast(new FlushConsolidationHandler(MOST_HELD_FLUSHES, true), handler);
  }
}
