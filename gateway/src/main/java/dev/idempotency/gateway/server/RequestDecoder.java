package dev.idempotency.gateway.server;

import dev.idempotency.gateway.http.Headers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests off the wire: one reading of every byte, or a refusal after which nothing more is
 * read (RFC 9112). It is written for this edge because the codec of the network library mends what
 * must be refused – folded lines, equal lengths, blanks in the request line – and says nothing.
 *
 * <p>Every byte of a head is looked at twice, to find the end of its line and to read the line; no
 * matter in how many pieces it comes.
 */
final class RequestDecoder extends ByteToMessageDecoder {

  private static final long NOT_MIDWAY = Long.MIN_VALUE;
  private static final int MOST_PART = 64 * 1024;
  private static final int MOST_CHUNK_LINE = 256;
  private static final int MOST_EXTENSION_BYTES = 16 * 1024;

  /** Where a line is while it is read; a connection at rest needs none. */
  private static final FastThreadLocal<byte[]> LINES =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[1024];
        }
      };

  private enum State {
    LINE,
    FIELDS,
    FIXED,
    SIZE,
    CHUNK,
    CHUNK_END,
    TRAILERS,
    BROKEN
  }

  private final ServerOptions options;
  private State state = State.LINE;
  private @Nullable RequestLine line;
  private Headers fields = new Headers();
  private byte[] bytes = {};
  private int length;
  private int searched;
  private int spent;
  private boolean blankSkipped;
  private long left;
  private long midwaySince = NOT_MIDWAY;

  RequestDecoder(ServerOptions options) {
    this.options = options;
  }

  /** Whether bytes of an unfinished head are here, or something that is none. */
  boolean isMidway() {
    return midwaySince != NOT_MIDWAY || state == State.BROKEN;
  }

  /** When the first of these bytes came, by the monotonic clock. */
  long midwaySince() {
    return midwaySince;
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    try {
      boolean goesOn = true;
      while (goesOn && out.isEmpty() && in.isReadable()) {
        goesOn = step(in, out);
      }
    } catch (MalformedException e) {
      broken(e, in, out);
    }
    boolean midway = state == State.FIELDS || (state == State.LINE && in.isReadable());
    if (!midway) {
      midwaySince = NOT_MIDWAY;
    } else if (midwaySince == NOT_MIDWAY) {
      midwaySince = System.nanoTime();
    }
  }

  @Override
  protected void decodeLast(ChannelHandlerContext ctx, ByteBuf in, List<Object> out)
      throws Exception {
    super.decodeLast(ctx, in, out);
    if (midwaySince != NOT_MIDWAY && ctx.channel().isActive()) {
      broken(MalformedException.of("The connection ended within a request's head."), in, out);
    }
  }

  private void broken(MalformedException e, ByteBuf in, List<Object> out) {
    RequestLine known = line;
    out.add(
        new Incoming.Bad(
            known == null ? "" : known.method(), known != null && known.isHttp10(), e.answer()));
    state = State.BROKEN;
    midwaySince = NOT_MIDWAY;
    in.skipBytes(in.readableBytes());
  }

  /** False where more bytes are needed. */
  private boolean step(ByteBuf in, List<Object> out) throws MalformedException {
    return switch (state) {
      case LINE -> line(in);
      case FIELDS -> field(in, out);
      case FIXED -> part(in, out, true);
      case SIZE -> size(in);
      case CHUNK -> part(in, out, false);
      case CHUNK_END -> chunkEnd(in);
      case TRAILERS -> trailer(in, out);
      case BROKEN -> {
        in.skipBytes(in.readableBytes());
        yield false;
      }
    };
  }

  // ---- lines

  /** Takes the next line, without its end, into {@link #bytes}; false where it is not there yet. */
  private boolean takeLine(ByteBuf in, int most, Refusal tooLong) throws MalformedException {
    int start = in.readerIndex();
    int readable = in.readableBytes();
    int looked = (int) Math.min(readable, most + 2L);
    int lf = in.indexOf(start + searched, start + looked, (byte) '\n');
    if (lf < 0) {
      if (looked < readable || looked == most + 2L) {
        throw tooLong.exception();
      }
      searched = looked;
      return false;
    }
    searched = 0;
    length = lf - start - 1;
    if (length < 0 || in.getByte(lf - 1) != '\r') {
      throw MalformedException.of("A line ends with LF alone; it must end with CR LF.");
    }
    bytes = room(length);
    in.readBytes(bytes, 0, length);
    in.skipBytes(2);
    return true;
  }

  /** Makes the refusal of a line that is too long. */
  private interface Refusal {
    MalformedException exception();
  }

  private static byte[] room(int length) {
    byte[] room = LINES.get();
    if (room.length < length) {
      room = new byte[Math.max(length, 2 * room.length)];
      LINES.set(room);
    }
    return room;
  }

  private boolean line(ByteBuf in) throws MalformedException {
    byte first = in.getByte(in.readerIndex());
    if (!Octets.isToken(first & 0xff) && first != '\r') {
      // Need not wait for the end of what is no line, such as the hello of TLS.
      throw MalformedException.of("The bytes do not begin with the method of a request.");
    }
    if (!takeLine(in, options.targetBytes(), RequestDecoder::lineTooLong)) {
      return false;
    }
    if (length == 0) {
      // Some clients of old end a body with a line that they don't count (RFC 9112 §2.2).
      if (blankSkipped) {
        throw MalformedException.of("More than one empty line stands before a request.");
      }
      blankSkipped = true;
      return true;
    }
    line = RequestLine.read(bytes, length);
    fields = new Headers();
    spent = 0;
    state = State.FIELDS;
    return true;
  }

  private static MalformedException lineTooLong() {
    return new MalformedException(Refusals.uriTooLong());
  }

  private static MalformedException fieldsTooLarge() {
    return new MalformedException(Refusals.tooManyFields());
  }

  /** Takes the next field line into the fields; false where it is not there yet. */
  private boolean takeField(ByteBuf in) throws MalformedException {
    int most = options.headerBytes() - spent;
    if (!takeLine(in, most, RequestDecoder::fieldsTooLarge)) {
      return false;
    }
    spent += length + 2;
    if (spent > options.headerBytes() || (length > 0 && fields.size() >= options.headerCount())) {
      throw fieldsTooLarge();
    }
    if (length > 0) {
      FieldLine.read(bytes, length, fields);
    }
    return true;
  }

  private boolean field(ByteBuf in, List<Object> out) throws MalformedException {
    if (!takeField(in)) {
      return false;
    }
    if (length > 0) {
      return true;
    }
    RequestLine request = line;
    if (request == null) {
      throw new IllegalStateException("fields without a request line");
    }
    left = Framing.lengthOf(fields, request.isHttp10());
    out.add(
        new Incoming.Head(request.method(), request.target(), request.isHttp10(), fields, left));
    spent = 0;
    if (left == 0) {
      end(Incoming.Body.END, out);
    } else {
      state = left < 0 ? State.SIZE : State.FIXED;
    }
    return true;
  }

  private void end(Incoming.Body last, List<Object> out) {
    out.add(last);
    // What comes next and is no request is not of this one's method, such as HEAD.
    line = null;
    state = State.LINE;
    blankSkipped = false;
  }

  // ---- bodies

  private boolean part(ByteBuf in, List<Object> out, boolean fixed) {
    int count = (int) Math.min(left, Math.min(in.readableBytes(), MOST_PART));
    left -= count;
    Incoming.Body part = new Incoming.Body(in.readRetainedSlice(count), fixed && left == 0);
    if (part.isLast()) {
      end(part, out);
    } else {
      out.add(part);
      state = left == 0 ? State.CHUNK_END : state;
    }
    return true;
  }

  private boolean size(ByteBuf in) throws MalformedException {
    if (!takeLine(in, MOST_CHUNK_LINE, RequestDecoder::chunkLineTooLong)) {
      return false;
    }
    left = ChunkLine.sizeOf(bytes, length);
    spent += length - digitsOf(left);
    if (spent > MOST_EXTENSION_BYTES) {
      throw MalformedException.of("The extensions of the chunks are too long in all.");
    }
    if (left == 0) {
      fields = new Headers();
      spent = 0;
    }
    state = left == 0 ? State.TRAILERS : State.CHUNK;
    return true;
  }

  /** How many digits the size needs: what else stands in its line is surplus. */
  private static int digitsOf(long size) {
    return Math.max(1, (Long.SIZE + 3 - Long.numberOfLeadingZeros(size)) / 4);
  }

  private static MalformedException chunkLineTooLong() {
    return MalformedException.of("The line of a chunk is longer than 256 bytes.");
  }

  private boolean chunkEnd(ByteBuf in) throws MalformedException {
    boolean cr = in.getByte(in.readerIndex()) == '\r';
    if (cr && in.readableBytes() == 1) {
      return false;
    }
    if (!cr || in.getByte(in.readerIndex() + 1) != '\n') {
      throw MalformedException.of("A chunk is longer than its size says.");
    }
    in.skipBytes(2);
    state = State.SIZE;
    return true;
  }

  /** Trailers are checked and dropped: nobody may take them for headers (RFC 9110 §6.5.1). */
  private boolean trailer(ByteBuf in, List<Object> out) throws MalformedException {
    if (!takeField(in)) {
      return false;
    }
    if (length == 0) {
      end(Incoming.Body.END, out);
    }
    return true;
  }
}
