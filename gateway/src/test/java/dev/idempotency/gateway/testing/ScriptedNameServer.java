package dev.idempotency.gateway.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A name server (RFC 1035) that says of every name what a test says: IPv4 addresses, or nothing.
 */
public final class ScriptedNameServer implements AutoCloseable {

  private static final int HEAD = 12;
  private static final int NO_SUCH_NAME = 3;

  private record Answer(int seconds, List<byte[]> addresses) {}

  private final DatagramSocket socket;
  private final AtomicInteger questions = new AtomicInteger();
  private volatile Answer answer = new Answer(0, List.of());

  private ScriptedNameServer() throws IOException {
    socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    Thread thread = new Thread(this::serve, "name-server");
    thread.setDaemon(true);
    thread.start();
  }

  public static ScriptedNameServer start() {
    try {
      return new ScriptedNameServer();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public InetSocketAddress address() {
    return (InetSocketAddress) socket.getLocalSocketAddress();
  }

  /** From now on every name stands for these addresses, for that time. */
  public void answer(int seconds, String... addresses) {
    List<byte[]> bytes = new ArrayList<>();
    try {
      for (String address : addresses) {
        bytes.add(InetAddress.getByName(address).getAddress());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    answer = new Answer(seconds, bytes);
  }

  public int questions() {
    return questions.get();
  }

  private void serve() {
    byte[] bytes = new byte[1500];
    try {
      while (true) {
        DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
        socket.receive(packet);
        questions.incrementAndGet();
        byte[] reply = reply(Arrays.copyOf(bytes, packet.getLength()));
        socket.send(new DatagramPacket(reply, reply.length, packet.getSocketAddress()));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private byte[] reply(byte[] query) {
    Answer now = answer;
    int end = HEAD;
    while (query[end] != 0) {
      end += query[end] + 1;
    }
    // The name's end, type, class.
    end += 5;
    boolean ipv4 = query[end - 3] == 1;
    List<byte[]> addresses = ipv4 ? now.addresses : List.of();
    ByteArrayOutputStream reply = new ByteArrayOutputStream();
    ByteBuffer head = ByteBuffer.allocate(HEAD);
    head.put(query, 0, 2).putShort((short) (0x8180 | (now.addresses.isEmpty() ? NO_SUCH_NAME : 0)));
    head.putShort((short) 1).putShort((short) addresses.size());
    reply.writeBytes(head.array());
    reply.write(query, HEAD, end - HEAD);
    for (byte[] address : addresses) {
      ByteBuffer record = ByteBuffer.allocate(16);
      // The name of the question again; A, IN.
      record.putShort((short) (0xc000 | HEAD)).putShort((short) 1).putShort((short) 1);
      record.putInt(now.seconds).putShort((short) 4).put(address);
      reply.writeBytes(record.array());
    }
    return reply.toByteArray();
  }

  @Override
  public void close() {
    socket.close();
  }
}
