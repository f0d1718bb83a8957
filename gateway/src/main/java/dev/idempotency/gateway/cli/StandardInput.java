package dev.idempotency.gateway.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Values that are not to be in the shell's history and in the list of processes. */
final class StandardInput {

  private final InputStream in;

  StandardInput(InputStream in) {
    this.in = in;
  }

  /** The value itself or, where it is {@code -}, the next line in UTF-8 without its end. */
  String value(String flag, String given) throws RefusedException {
    if (!given.equals("-")) {
      return given;
    }
    try {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      int next = in.read();
      if (next < 0) {
        throw RefusedException.usage(
            flag + ": - is given, and the standard input has no line left");
      }
      for (; next >= 0 && next != '\n'; next = in.read()) {
        line.write(next);
      }
      String text = line.toString(StandardCharsets.UTF_8);
      return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    } catch (IOException e) {
      throw RefusedException.refused(flag + ": the standard input can't be read");
    }
  }

  byte[] rest() throws IOException {
    return in.readAllBytes();
  }
}
