package dev.idempotency.gateway.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A socket that can keep back what is written, and then send it at once. */
final class CorkedSocket extends Socket {

  private final Output output = new Output();
  private volatile ByteArrayOutputStream kept;

  /** On a port of its own on the loopback. */
  static final class Listener extends ServerSocket {
    Listener() throws IOException {
      super(0, 200, InetAddress.getLoopbackAddress());
    }

    @Override
    public Socket accept() throws IOException {
      Socket socket = new CorkedSocket();
      implAccept(socket);
      return socket;
    }
  }

  void cork() {
    kept = new ByteArrayOutputStream();
  }

  void uncork() throws IOException {
    byte[] bytes = kept.toByteArray();
    kept = null;
    super.getOutputStream().write(bytes);
  }

  private OutputStream wire() throws IOException {
    ByteArrayOutputStream corked = kept;
    return corked == null ? super.getOutputStream() : corked;
  }

  @Override
  public OutputStream getOutputStream() {
    return output;
  }

  private final class Output extends OutputStream {
    @Override
    public void write(int b) throws IOException {
      wire().write(b);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      wire().write(bytes, from, length);
    }

    @Override
    public void flush() throws IOException {
      wire().flush();
    }
  }
}
