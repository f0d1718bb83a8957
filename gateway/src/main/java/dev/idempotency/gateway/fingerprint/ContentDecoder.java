package dev.idempotency.gateway.fingerprint;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Undoes the content codings gzip and deflate (RFC 9110 §8.4.1, RFC 1950 to 1952), at most {@link
 * #MOST_CODINGS} of them, within a limit.
 *
 * <p>What is broken, cut off or followed by anything is not decoded: some readers take what they
 * can get, others refuse.
 *
 * <p>Threading: confined to one thread. Failure: never throws for any input. Time and memory are
 * bounded by the input and the limit, however much the content promises to become.
 */
final class ContentDecoder {

  /** What came of decoding. */
  enum Result {
    DECODED,
    /** Has no decoded form. */
    UNREADABLE,
    TOO_LARGE
  }

  static final int MOST_CODINGS = 2;

  private static final int STEP = 64 << 10;

  private final List<String> codings;
  private final int limit;
  private byte[] bytes = {};
  private int length;

  /**
   * @param codings in the order in which they were applied; {@linkplain #knows known} ones
   * @param limit most bytes that may come out
   */
  ContentDecoder(List<String> codings, long limit) {
    this.codings = new ArrayList<>(codings);
    this.limit = (int) Math.min(limit, Integer.MAX_VALUE - 64);
  }

  /** The codings of a field's values in lower case, in the order in which they were applied. */
  static List<String> codings(List<String> lines) {
    List<String> codings = new ArrayList<>();
    for (String line : lines) {
      for (String coding : line.split(",", -1)) {
        codings.add(coding.strip().toLowerCase(Locale.ROOT));
      }
    }
    return codings;
  }

  /** Whether these codings can be undone. */
  static boolean knows(List<String> codings) {
    return codings.size() <= MOST_CODINGS
        && codings.stream().allMatch(c -> isGzip(c) || c.equals("deflate"));
  }

  private static boolean isGzip(String coding) {
    return coding.equals("gzip") || coding.equals("x-gzip");
  }

  /** The codings, with "bare deflate" where the frame of RFC 1950 was missing. */
  List<String> found() {
    return codings;
  }

  /** Undoes all codings. */
  Result decode(byte[] content) {
    bytes = content;
    length = content.length;
    for (int i = codings.size() - 1; i >= 0; i--) {
      byte[] coded = bytes;
      int size = length;
      bytes = new byte[(int) Math.min(limit + 1L, Math.max(STEP, 2L * size))];
      length = 0;
      Result result = isGzip(codings.get(i)) ? gunzip(coded, size) : inflate(coded, size, i);
      if (result != Result.DECODED) {
        bytes = Reordering.NONE;
        return result;
      }
    }
    return Result.DECODED;
  }

  /** The decoded content. */
  byte[] content() {
    return bytes.length == length ? bytes : Arrays.copyOf(bytes, length);
  }

  private Result gunzip(byte[] coded, int size) {
    Inflater inflater = new Inflater(true);
    try {
      int at = 0;
      do {
        GzipFrame frame = GzipFrame.at(coded, at, size);
        if (frame == null) {
          return Result.UNREADABLE;
        }
        int from = length;
        inflater.reset();
        inflater.setInput(coded, frame.end(), size - frame.end());
        Result result = run(inflater);
        if (result != Result.DECODED) {
          return result;
        }
        at = size - inflater.getRemaining();
        if (!GzipFrame.isTrailer(coded, at, size, bytes, from, length)) {
          return Result.UNREADABLE;
        }
        at += GzipFrame.TRAILER;
      } while (at < size);
      return Result.DECODED;
    } finally {
      inflater.end();
    }
  }

  private Result inflate(byte[] coded, int size, int place) {
    boolean bare = !isZlib(coded, size);
    if (bare) {
      codings.set(place, "bare deflate"); // not everybody reads it
    }
    Inflater inflater = new Inflater(bare);
    try {
      inflater.setInput(coded, 0, size);
      Result result = run(inflater);
      return result == Result.DECODED && inflater.getRemaining() > 0 ? Result.UNREADABLE : result;
    } finally {
      inflater.end();
    }
  }

  /** Whether there is the header of RFC 1950 §2.2; some leave it away. */
  private static boolean isZlib(byte[] coded, int size) {
    return size >= 2
        && (coded[0] & 0x0F) == 8
        && ((coded[0] & 0xFF) << 8 | (coded[1] & 0xFF)) % 31 == 0;
  }

  private Result run(Inflater inflater) {
    try {
      while (!inflater.finished()) {
        if (length == bytes.length && !grow()) {
          return Result.TOO_LARGE;
        }
        int more = inflater.inflate(bytes, length, bytes.length - length);
        length += more;
        if (more == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
          return inflater.finished() ? Result.DECODED : Result.UNREADABLE;
        }
      }
      return length > limit ? Result.TOO_LARGE : Result.DECODED;
    } catch (DataFormatException e) {
      return Result.UNREADABLE;
    }
  }

  /** Makes room for at most one byte more than is allowed. */
  private boolean grow() {
    if (length > limit) {
      return false;
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(limit + 1L, 2L * length));
    return true;
  }
}
