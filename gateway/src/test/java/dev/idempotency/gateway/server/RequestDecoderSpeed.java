package dev.idempotency.gateway.server;

import dev.idempotency.gateway.transport.FlatHeaders;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;

/**
 * Not a test: prints what a keyed POST with ten fields costs in this decoder and in the network
 * library's, which mends what must be refused. Run its main method, without leak detection.
 */
final class RequestDecoderSpeed {

  private static final int ROUNDS = 400_000;

  private static final byte[] REQUEST =
      ("POST /orders?source=shop HTTP/1.1\r\nHost: gateway.example.com\r\n"
              + "User-Agent: shop/4.2 (linux; x86_64)\r\nAccept: application/json\r\n"
              + "Accept-Encoding: gzip, deflate\r\nAuthorization: Bearer 0123456789abcdef0123456789\r\n"
              + "Idempotency-Key: \"8e03978e-40d5-43dd-bc93-6894a57f9324\"\r\n"
              + "Content-Type: application/json\r\nX-Request-Id: 01J9ZC3V6Q8\r\n"
              + "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"
              + "Content-Length: 15\r\n\r\n{\"amount\":1999}")
          .getBytes(StandardCharsets.US_ASCII);

  private RequestDecoderSpeed() {}

  public static void main(String[] arguments) {
    for (int i = 0; i < 5; i++) {
      long own = nanosOf(new RequestDecoder(RequestHeadsTest.options()));
      long other =
          nanosOf(
              new HttpRequestDecoder(
                  new HttpDecoderConfig()
                      .setMaxHeaderSize(16_384)
                      .setMaxChunkSize(65_536)
                      .setHeadersFactory(FlatHeaders.FACTORY)
                      .setTrailersFactory(FlatHeaders.FACTORY)));
      System.out.println("this decoder " + own + " ns, the library's " + other + " ns a request");
    }
  }

  private static long nanosOf(ChannelHandler decoder) {
    EmbeddedChannel channel = new EmbeddedChannel(decoder);
    ByteBuf bytes = Unpooled.directBuffer(REQUEST.length).writeBytes(REQUEST);
    long began = System.nanoTime();
    for (int i = 0; i < ROUNDS; i++) {
      channel.writeInbound(bytes.retainedDuplicate());
      for (Object out = channel.readInbound(); out != null; out = channel.readInbound()) {
        if (out instanceof Incoming incoming) {
          Incoming.release(incoming);
        } else {
          ReferenceCountUtil.release(out);
        }
      }
    }
    long nanos = (System.nanoTime() - began) / ROUNDS;
    bytes.release();
    channel.finishAndReleaseAll();
    return nanos;
  }
}
