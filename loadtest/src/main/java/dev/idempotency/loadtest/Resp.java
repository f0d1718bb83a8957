package dev.idempotency.loadtest;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Asks a Redis one thing. */
final class Resp {

  private static final int TIMEOUT_MILLIS = 5_000;

  private Resp() {}

  /**
   * Sends a command over a connection of its own.
   *
   * @return what is replied, arrays with a line per member, nothing for an absent value
   * @throws IOException if there is no reply, or an error, with its text
   */
  static String call(int port, String... command) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      StringBuilder text = new StringBuilder().append('*').append(command.length).append("\r\n");
      for (String word : command) {
        text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
      }
      socket.getOutputStream().write(text.toString().getBytes(StandardCharsets.ISO_8859_1));
      return read(new BufferedInputStream(socket.getInputStream()));
    }
  }

  /** Whether it replies that. */
  static boolean says(int port, String text, String... command) {
    try {
      return call(port, command).contains(text);
    } catch (IOException e) {
      return false;
    }
  }

  private static String read(InputStream in) throws IOException {
    String head = line(in);
    String rest = head.substring(1);
    return switch (head.charAt(0)) {
      case '-' -> throw new IOException("Redis says: " + rest);
      case '$' -> bulk(in, Integer.parseInt(rest));
      case '*' -> {
        List<String> all = new ArrayList<>();
        for (int i = Integer.parseInt(rest); i > 0; i--) {
          all.add(read(in));
        }
        yield String.join("\n", all);
      }
      default -> rest;
    };
  }

  private static String bulk(InputStream in, int length) throws IOException {
    if (length < 0) {
      return "";
    }
    String text = new String(in.readNBytes(length), StandardCharsets.ISO_8859_1);
    line(in);
    return text;
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("Redis has closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }
}
