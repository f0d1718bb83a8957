package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.testing.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * What a gateway of the build before this one does to a record: it knows of no notes, no index, no
 * pieces and no operators. Its scripts are kept among the test resources as they were.
 */
final class EarlierGateway {

  private static final int FIXED = 69;

  private final RedisServer redis;
  private final String prefix;

  EarlierGateway(RedisServer redis, String prefix) {
    this.redis = redis;
    this.prefix = prefix;
  }

  /** {@code A}, or what it read in the record that is there. */
  String reserve(Reservation attempt) {
    return run("reserve", attempt, head(attempt), tail(attempt), lease(attempt), life(attempt));
  }

  String takeOver(Reservation attempt) {
    String before = text(RecordFormat.attempt(attempt.attempt() - 1));
    return run(
        "take_over", attempt, head(attempt), tail(attempt), before, lease(attempt), life(attempt));
  }

  String renew(Reservation attempt) {
    return run("renew", attempt, head(attempt), tail(attempt), lease(attempt), life(attempt));
  }

  String settle(Reservation attempt, Settlement settlement) {
    String record = text(RecordFormat.settled(attempt.with(Note.NONE), settlement));
    return run("settle", attempt, record, String.valueOf(attempt.retention().toMillis()));
  }

  String release(Reservation attempt) {
    return run("release", attempt, text(RecordFormat.owner(attempt)));
  }

  private static String head(Reservation attempt) {
    return text(RecordFormat.head(attempt));
  }

  private static String tail(Reservation attempt) {
    return text(RecordFormat.tail(attempt.with(Note.NONE)));
  }

  private static String lease(Reservation attempt) {
    return String.valueOf(attempt.lease().toMillis());
  }

  private static String life(Reservation attempt) {
    return String.valueOf(attempt.lease().plus(attempt.retention()).toMillis());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private String run(String script, Reservation attempt, String... arguments) {
    List<String> command = new ArrayList<>(List.of("EVAL", script(script), "1"));
    command.add(prefix + attempt.id());
    command.addAll(List.of(arguments));
    String reply = redis.call(command.toArray(new String[0]));
    return reply.length() == 1 ? reply : read(reply);
  }

  private static String script(String name) {
    String resource = "/records/earlier/" + name + ".lua";
    try (InputStream in = EarlierGateway.class.getResourceAsStream(resource)) {
      return text(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(String reply) {
    boolean leased = reply.startsWith("L");
    long left = leased ? ByteBuffer.wrap(bytes(reply)).getLong(1) : 0;
    return read(bytes(leased ? reply.substring(9) : reply), left);
  }

  /**
   * What that build takes the record for.
   *
   * @param leaseLeft of a reservation, in ms
   */
  static String read(byte[] bytes, long leaseLeft) {
    ByteBuffer record = ByteBuffer.wrap(bytes);
    if (bytes.length < FIXED || record.get(0) != 1) {
      return "foreign";
    }
    int status = record.getShort(67) & 0xffff;
    String state =
        switch (record.get(1)) {
          case 'R' -> leaseLeft > 0 ? "in flight" : "unknown, lapsed";
          case 'U' -> "unknown";
          case 'C' -> response(status, record.position(FIXED).slice());
          case 'N' -> "not kept " + status;
          default -> "foreign";
        };
    return "attempt " + record.getLong(2) + ", " + fingerprint(record) + ", " + state;
  }

  private static String fingerprint(ByteBuffer record) {
    int version = record.get(34) & 0xff;
    if (version == 0) {
      return "open";
    }
    long marks = record.get(1) != 'R' ? record.getLong(26) : 0;
    if (record.get(1) == 'R' && record.limit() >= FIXED + 8) {
      marks = record.getLong(FIXED);
    }
    return "version " + version + " marks " + Long.toHexString(marks);
  }

  private static String response(int status, ByteBuffer from) {
    CRC32C crc = new CRC32C();
    crc.update(from.slice(4, from.remaining() - 4));
    if (from.getInt() != (int) crc.getValue()) {
      return "not kept " + status;
    }
    String headers = fields(from);
    String trailers = fields(from);
    if (from.getInt() != from.remaining()) {
      return "not kept " + status;
    }
    // The one field of what only an envelope makes readable; without one it is not replayed.
    return headers.startsWith(":envelope") && headers.indexOf(' ') < 0
        ? "completed " + status + ", sealed"
        : "completed " + status + ", " + headers + " | " + trailers + " | " + from.remaining();
  }

  private static String fields(ByteBuffer from) {
    List<String> fields = new ArrayList<>();
    for (int left = from.getInt(); left > 0; left--) {
      fields.add(text(from) + "=" + text(from));
    }
    return String.join(" ", fields);
  }

  private static String text(ByteBuffer from) {
    byte[] bytes = new byte[from.getInt()];
    from.get(bytes);
    return text(bytes);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }
}
