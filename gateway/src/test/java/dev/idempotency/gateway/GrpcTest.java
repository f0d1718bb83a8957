package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** gRPC calls, with and without a key, between its own client and its own server. */
class GrpcTest {

  private static final Metadata.Key<byte[]> TRACE =
      Metadata.Key.of("trace-bin", Metadata.BINARY_BYTE_MARSHALLER);
  private static final Metadata.Key<String> KEY =
      Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> REPLAYED =
      Metadata.Key.of("idempotent-replayed", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> DETAIL =
      Metadata.Key.of("detail", Metadata.ASCII_STRING_MARSHALLER);

  private static final MethodDescriptor<byte[], byte[]> UNARY =
      method("plain.Echo/Unary", MethodDescriptor.MethodType.UNARY);
  private static final MethodDescriptor<byte[], byte[]> KEYED =
      method("keyed/Unary", MethodDescriptor.MethodType.UNARY);
  private static final MethodDescriptor<byte[], byte[]> SERVER =
      method("plain.Echo/Server", MethodDescriptor.MethodType.SERVER_STREAMING);
  private static final MethodDescriptor<byte[], byte[]> CLIENT =
      method("plain.Echo/Client", MethodDescriptor.MethodType.CLIENT_STREAMING);
  private static final MethodDescriptor<byte[], byte[]> BIDI =
      method("plain.Echo/Bidi", MethodDescriptor.MethodType.BIDI_STREAMING);

  private final AtomicInteger calls = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();
  private final List<byte[]> traces = new CopyOnWriteArrayList<>();
  private final Server server = server();
  private final TestGateway gateway =
      EdgeYaml.of("http://127.0.0.1:" + server.getPort())
          .upstream("http2: true")
          .top("listen: { address: \"127.0.0.1:0\", http2: true }")
          .start();
  private final ManagedChannel channel =
      NettyChannelBuilder.forAddress("127.0.0.1", gateway.port())
          .usePlaintext()
          .maxInboundMessageSize(32 << 20)
          .build();

  @AfterEach
  void stop() throws InterruptedException {
    channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
    gateway.close();
    server.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
  }

  private static MethodDescriptor<byte[], byte[]> method(
      String name, MethodDescriptor.MethodType type) {
    return MethodDescriptor.<byte[], byte[]>newBuilder(new Bytes(), new Bytes())
        .setFullMethodName(name)
        .setType(type)
        .build();
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private Server server() {
    ServerServiceDefinition echo =
        ServerServiceDefinition.builder("plain.Echo")
            .addMethod(UNARY, ServerCalls.asyncUnaryCall(this::unary))
            .addMethod(SERVER, ServerCalls.asyncServerStreamingCall(this::stream))
            .addMethod(CLIENT, ServerCalls.asyncClientStreamingCall(this::gather))
            .addMethod(BIDI, ServerCalls.asyncBidiStreamingCall(this::echo))
            .build();
    ServerServiceDefinition keyed =
        ServerServiceDefinition.builder("keyed")
            .addMethod(KEYED, ServerCalls.asyncUnaryCall(this::unary))
            .build();
    try {
      return NettyServerBuilder.forAddress(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
          .maxInboundMessageSize(32 << 20)
          .addService(ServerInterceptors.intercept(echo, new Traces()))
          .addService(keyed)
          .build()
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class Traces implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      byte[] trace = headers.get(TRACE);
      if (trace != null) {
        traces.add(trace);
      }
      return next.startCall(call, headers);
    }
  }

  /** Gives the message back, or fails with a status and a detail in the trailers. */
  private void unary(byte[] message, StreamObserver<byte[]> answer) {
    int number = calls.incrementAndGet();
    String text = new String(message, StandardCharsets.UTF_8);
    if (text.equals("fail")) {
      Metadata trailers = new Metadata();
      trailers.put(DETAIL, "no " + number);
      answer.onError(
          Status.FAILED_PRECONDITION.withDescription("not so é").asRuntimeException(trailers));
    } else if (!text.equals("hold")) {
      answer.onNext(message);
      answer.onCompleted();
    } else if (answer instanceof ServerCallStreamObserver<byte[]> held) {
      held.setOnCancelHandler(cancelled::incrementAndGet);
    }
  }

  private void stream(byte[] message, StreamObserver<byte[]> answer) {
    String text = new String(message, StandardCharsets.UTF_8);
    for (int i = 0; i < 200; i++) {
      answer.onNext((text + i).getBytes(StandardCharsets.UTF_8));
    }
    answer.onCompleted();
  }

  private StreamObserver<byte[]> gather(StreamObserver<byte[]> answer) {
    AtomicInteger sum = new AtomicInteger();
    return new Messages() {
      @Override
      public void onNext(byte[] message) {
        sum.addAndGet(message.length);
      }

      @Override
      public void onCompleted() {
        answer.onNext(("" + sum).getBytes(StandardCharsets.UTF_8));
        answer.onCompleted();
      }
    };
  }

  private StreamObserver<byte[]> echo(StreamObserver<byte[]> answer) {
    return new Messages() {
      @Override
      public void onNext(byte[] message) {
        answer.onNext(message);
      }

      @Override
      public void onCompleted() {
        answer.onCompleted();
      }
    };
  }

  /** What was heard. */
  private static class Messages implements StreamObserver<byte[]> {
    final List<String> heard = new CopyOnWriteArrayList<>();

    @Override
    public void onNext(byte[] message) {
      heard.add(new String(message, StandardCharsets.UTF_8));
    }

    @Override
    public void onError(Throwable cause) {
      heard.add("error " + Status.fromThrowable(cause).getCode());
    }

    @Override
    public void onCompleted() {
      heard.add("end");
    }
  }

  private byte[] call(MethodDescriptor<byte[], byte[]> method, byte[] message, Channel on) {
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS);
    return ClientCalls.blockingUnaryCall(on, method, options, message);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void unaryCallPassesWithItsMetadata() {
    byte[] trace = {0, 1, (byte) 0xff};
    Metadata metadata = new Metadata();
    metadata.put(TRACE, trace);
    ClientInterceptor adds = MetadataUtils.newAttachHeadersInterceptor(metadata);
    Channel traced = io.grpc.ClientInterceptors.intercept(channel, adds);

    assertThat(call(UNARY, bytes("hello"), traced)).isEqualTo(bytes("hello"));
    assertThat(traces).hasSize(1);
    assertThat(traces.get(0)).isEqualTo(trace);
  }

  @Test
  void errorPassesWithItsStatusAndItsTrailers() {
    StatusRuntimeException error =
        catchThrowableOfType(
            StatusRuntimeException.class, () -> call(UNARY, bytes("fail"), channel));
    assertThat(error.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    assertThat(error.getStatus().getDescription()).isEqualTo("not so é");
    assertThat(error.getTrailers().get(DETAIL)).isEqualTo("no 1");
  }

  @Test
  void methodThatDoesNotExistIsTheServersAnswer() {
    MethodDescriptor<byte[], byte[]> none =
        method("plain.Echo/None", MethodDescriptor.MethodType.UNARY);
    StatusRuntimeException error =
        catchThrowableOfType(StatusRuntimeException.class, () -> call(none, bytes(""), channel));
    assertThat(error.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
  }

  @Test
  void largeMessagePassesBothWays() {
    byte[] large = new byte[10 << 20];
    new java.util.Random(7).nextBytes(large);
    assertThat(call(UNARY, large, channel)).isEqualTo(large);
  }

  @Test
  void serverStreamPasses() {
    Iterator<byte[]> answers =
        ClientCalls.blockingServerStreamingCall(channel, SERVER, CallOptions.DEFAULT, bytes("x"));
    List<String> heard = new ArrayList<>();
    answers.forEachRemaining(m -> heard.add(new String(m, StandardCharsets.UTF_8)));
    assertThat(heard).hasSize(200).endsWith("x199");
  }

  @Test
  void clientStreamPasses() {
    Messages messages = new Messages();
    StreamObserver<byte[]> requests =
        ClientCalls.asyncClientStreamingCall(
            channel.newCall(CLIENT, CallOptions.DEFAULT), messages);
    for (int i = 0; i < 100; i++) {
      requests.onNext(new byte[1_000]);
    }
    requests.onCompleted();
    await().until(() -> messages.heard.size() == 2);
    assertThat(messages.heard).containsExactly("100000", "end");
  }

  @Test
  void messagesOfBothSidesAlternate() {
    Messages messages = new Messages();
    StreamObserver<byte[]> requests =
        ClientCalls.asyncBidiStreamingCall(channel.newCall(BIDI, CallOptions.DEFAULT), messages);
    for (int i = 0; i < 20; i++) {
      requests.onNext(bytes("m" + i));
      int count = i + 1;
      await().until(() -> messages.heard.size() == count);
      assertThat(messages.heard).endsWith("m" + i);
    }
    requests.onCompleted();
    await().until(() -> messages.heard.contains("end"));
  }

  @Test
  void callThatTheClientGivesUpIsCancelledAtTheServer() {
    io.grpc.ClientCall<byte[], byte[]> call = channel.newCall(UNARY, CallOptions.DEFAULT);
    Messages messages = new Messages();
    ClientCalls.asyncUnaryCall(call, bytes("hold"), messages);
    await().until(() -> calls.get() == 1);
    call.cancel("enough", null);
    await().until(() -> cancelled.get() == 1);
    assertThat(messages.heard).containsExactly("error CANCELLED");
  }

  @Test
  void callWithAKeyIsMadeOnceAndReplayedWithItsStatus() {
    Metadata metadata = new Metadata();
    metadata.put(KEY, "k-1");
    Channel keyed =
        io.grpc.ClientInterceptors.intercept(
            channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
    assertThat(call(KEYED, bytes("order"), keyed)).isEqualTo(bytes("order"));
    assertThat(call(KEYED, bytes("order"), keyed)).isEqualTo(bytes("order"));
    assertThat(calls.get()).isEqualTo(1);
  }

  @Test
  void errorOfACallWithAKeyIsReplayedAsItWas() {
    Metadata metadata = new Metadata();
    metadata.put(KEY, "k-2");
    Channel keyed =
        io.grpc.ClientInterceptors.intercept(
            channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
    for (int i = 0; i < 2; i++) {
      StatusRuntimeException error =
          catchThrowableOfType(
              StatusRuntimeException.class, () -> call(KEYED, bytes("fail"), keyed));
      assertThat(error.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
      assertThat(error.getTrailers().get(DETAIL)).isEqualTo("no 1");
      assertThat(error.getTrailers().containsKey(REPLAYED)).isEqualTo(i == 1);
    }
    assertThat(calls.get()).isEqualTo(1);
  }
}
