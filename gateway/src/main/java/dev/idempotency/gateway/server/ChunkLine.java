package dev.idempotency.gateway.server;

/**
 * The line before a chunk (RFC 9112 §7.1): its size in at most 15 hexadecimal digits, and
 * extensions that are checked and ignored. No blanks, although the RFC bears with some: they are
 * read differently.
 */
final class ChunkLine {

  private static final int MOST_DIGITS = 15;

  private final byte[] line;
  private final int length;
  private int at;

  private ChunkLine(byte[] line, int length) {
    this.line = line;
    this.length = length;
  }

  /**
   * The size of the chunk, of which the first {@code length} bytes are the line without its end.
   */
  static long sizeOf(byte[] line, int length) throws MalformedException {
    ChunkLine chunk = new ChunkLine(line, length);
    long size = chunk.size();
    while (chunk.at < length) {
      chunk.extension();
    }
    return size;
  }

  private long size() throws MalformedException {
    long size = 0;
    while (at < length && digit(line[at]) >= 0) {
      size = size << 4 | digit(line[at++]);
      if (at > MOST_DIGITS) {
        throw MalformedException.of("The size of a chunk has more than 15 digits.");
      }
    }
    if (at == 0) {
      throw MalformedException.of("The size of a chunk is not hexadecimal.");
    }
    return size;
  }

  private static int digit(byte b) {
    if (b >= '0' && b <= '9') {
      return b - '0';
    }
    int letter = b | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  }

  private void extension() throws MalformedException {
    expect(line[at++] == ';');
    token();
    if (at < length && line[at] == '=') {
      at++;
      if (at < length && line[at] == '"') {
        quoted();
      } else {
        token();
      }
    }
  }

  private void token() throws MalformedException {
    int start = at;
    while (at < length && Octets.isToken(line[at] & 0xff)) {
      at++;
    }
    expect(at > start);
  }

  private void quoted() throws MalformedException {
    at++;
    while (at < length && line[at] != '"') {
      at += line[at] == '\\' ? 2 : 1;
      // Also what a backslash escapes must be a character.
      expect(at <= length && Octets.isValue(line[at - 1]));
    }
    expect(at < length);
    at++;
  }

  private static void expect(boolean right) throws MalformedException {
    if (!right) {
      throw MalformedException.of("The line of a chunk has something else than size;name=value.");
    }
  }
}
