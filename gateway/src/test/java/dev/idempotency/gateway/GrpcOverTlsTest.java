package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Certificates;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.pkitesting.X509Bundle;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** gRPC calls with TLS on both sides of the gateway, HTTP/2 chosen by ALPN on both. */
class GrpcOverTlsTest {

  private static final Certificates AUTHORITY = Certificates.authority("gRPC");
  private static final Metadata.Key<String> KEY =
      Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);

  private static final MethodDescriptor<byte[], byte[]> KEYED =
      method("keyed/Unary", MethodDescriptor.MethodType.UNARY);
  private static final MethodDescriptor<byte[], byte[]> BIDI =
      method("plain.Echo/Bidi", MethodDescriptor.MethodType.BIDI_STREAMING);

  private final AtomicInteger calls = new AtomicInteger();
  private final Path certificate;
  private final Path key;
  private final Path authorities;
  private final Server server;
  private TestGateway gateway;
  private ManagedChannel channel;

  GrpcOverTlsTest(@TempDir Path files) throws IOException {
    X509Bundle own = AUTHORITY.server();
    certificate = Certificates.write(files.resolve("own.crt"), own.getCertificatePathPEM());
    key = Certificates.write(files.resolve("own.key"), own.getPrivateKeyPEM());
    authorities =
        Certificates.write(files.resolve("ca.crt"), AUTHORITY.bundle().getCertificatePEM());
    server = server();
  }

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

  private Server server() throws IOException {
    ServerServiceDefinition keyed =
        ServerServiceDefinition.builder("keyed")
            .addMethod(KEYED, ServerCalls.asyncUnaryCall(this::unary))
            .build();
    ServerServiceDefinition plain =
        ServerServiceDefinition.builder("plain.Echo")
            .addMethod(BIDI, ServerCalls.asyncBidiStreamingCall(Echo::new))
            .build();
    return NettyServerBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            TlsServerCredentials.create(certificate.toFile(), key.toFile()))
        .addService(keyed)
        .addService(plain)
        .build()
        .start();
  }

  private void unary(byte[] message, StreamObserver<byte[]> answer) {
    answer.onNext((text(message) + calls.incrementAndGet()).getBytes(StandardCharsets.UTF_8));
    answer.onCompleted();
  }

  private record Echo(StreamObserver<byte[]> answer) implements StreamObserver<byte[]> {
    @Override
    public void onNext(byte[] message) {
      answer.onNext(message);
    }

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {
      answer.onCompleted();
    }
  }

  private void start(Path trusted) throws IOException {
    String listen =
        "listen: { address: \"127.0.0.1:0\", tls: { certificate: \"%s\", key: \"%s\" } }";
    gateway =
        EdgeYaml.of("https://127.0.0.1:" + server.getPort())
            .upstream("http2: true", "tls: { ca: \"" + trusted + "\" }")
            .top(listen.formatted(certificate, key))
            .start();
    channel =
        NettyChannelBuilder.forAddress(
                "127.0.0.1",
                gateway.port(),
                TlsChannelCredentials.newBuilder().trustManager(authorities.toFile()).build())
            .build();
  }

  private Channel keyed(String value) {
    Metadata metadata = new Metadata();
    metadata.put(KEY, value);
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
  }

  private static CallOptions patient() {
    return CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS);
  }

  private String call(String key, String message) {
    byte[] sent = message.getBytes(StandardCharsets.UTF_8);
    return text(ClientCalls.blockingUnaryCall(keyed(key), KEYED, patient(), sent));
  }

  private static String text(byte[] message) {
    return new String(message, StandardCharsets.UTF_8);
  }

  @Test
  void keyedCallIsExecutedOnceAndReplayed() throws IOException {
    start(authorities);
    assertThat(call("a", "hello ")).isEqualTo("hello 1");
    assertThat(call("a", "hello ")).isEqualTo("hello 1");
    assertThat(call("b", "hello ")).isEqualTo("hello 2");
    assertThat(calls).hasValue(2);
  }

  @Test
  void messagesGoBothWaysWhileTheCallIsOpen() throws Exception {
    start(authorities);
    var stream = ClientCalls.blockingBidiStreamingCall(channel, BIDI, patient());
    List<String> heard = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      stream.write(("m" + i).getBytes(StandardCharsets.UTF_8));
      heard.add(text(stream.read()));
    }
    stream.halfClose();
    assertThat(stream.read()).isNull();
    assertThat(heard).hasSize(50).startsWith("m0").endsWith("m49");
  }

  @Test
  void serverThatIsNotTrustedIsUnavailableAndExecutesNothing(@TempDir Path other)
      throws IOException {
    start(
        Certificates.write(
            other.resolve("ca.crt"),
            Certificates.authority("Others").bundle().getCertificatePEM()));
    StatusRuntimeException refused =
        org.assertj.core.api.Assertions.catchThrowableOfType(
            StatusRuntimeException.class, () -> call("a", "hello "));
    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(calls).hasValue(0);
  }
}
