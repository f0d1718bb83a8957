package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The value of an operation's key, format 1. Numbers are big-endian; the scripts read only the
 * fixed part and never the response.
 *
 * <table>
 * <caption>Fields</caption>
 * <tr><th>offset</th><th>bytes</th><th>field</th></tr>
 * <tr><td>0</td><td>1</td><td>format: 1</td></tr>
 * <tr><td>1</td><td>1</td><td>state: R reserved, U unknown, C completed, N done but not kept</td></tr>
 * <tr><td>2</td><td>8</td><td>attempt</td></tr>
 * <tr><td>10</td><td>16</td><td>token</td></tr>
 * <tr><td>26</td><td>8</td><td>R: end of the lease, ms since 1970 by the clock of Redis; else marks
 * of the fingerprint, 0: none</td></tr>
 * <tr><td>34</td><td>1</td><td>fingerprint version; 0: open, and the hash is zeros</td></tr>
 * <tr><td>35</td><td>32</td><td>fingerprint hash</td></tr>
 * <tr><td>67</td><td>2</td><td>status of the response; C and N only</td></tr>
 * <tr><td>69</td><td>–</td><td>C: response, see {@link ResponseFormat}; R: marks of the fingerprint,
 * 8 bytes or none, and behind them the {@link Note} or nothing; U: the note or nothing</td></tr>
 * </table>
 *
 * <p>Marks and note stand where a gateway older than they are reads nothing, and are not there in
 * what it wrote; so gateways of both kinds can share a store.
 *
 * <p>Fingerprints are open in the records of routes that stream their requests, until the request
 * is whole. A gateway older than those routes takes such a record for damaged and answers 503,
 * which is safe: it forwards nothing.
 *
 * <p>When the retention ends is not in the value but is the key's own expiry.
 */
final class RecordFormat {

  static final byte VERSION = 1;

  /** Length of the fixed part. */
  static final int FIXED = 69;

  /** Length of {@link #head}. */
  static final int HEAD = 26;

  private static final int LEASE_AT = 26;
  private static final int MARKS = 8;
  private static final int FINGERPRINT_AT = 34;
  private static final int STATUS_AT = 67;

  private RecordFormat() {}

  /** Everything of a reservation before the end of its lease, which only Redis can tell. */
  static byte[] head(Reservation reservation) {
    return ByteBuffer.allocate(HEAD)
        .put(VERSION)
        .put((byte) 'R')
        .putLong(reservation.attempt())
        .put(reservation.token().toByteArray())
        .array();
  }

  /** Everything of a reservation behind the end of its lease. */
  static byte[] tail(Reservation reservation) {
    byte[] note = reservation.note().toByteArray();
    return ByteBuffer.allocate(FIXED - FINGERPRINT_AT + MARKS + note.length)
        .put((byte) reservation.fingerprint().version())
        .put(reservation.fingerprint().hash())
        .putShort((short) 0)
        .putLong(reservation.fingerprint().marks())
        .put(note)
        .array();
  }

  /** Attempt and token, by which the scripts know the owner. */
  static byte[] owner(Reservation reservation) {
    return ByteBuffer.allocate(8 + AttemptToken.LENGTH)
        .putLong(reservation.attempt())
        .put(reservation.token().toByteArray())
        .array();
  }

  static byte[] attempt(long attempt) {
    return ByteBuffer.allocate(8).putLong(attempt).array();
  }

  /** The attempt, and the token behind it where it is known, as they stand in the record. */
  static byte[] attempt(long attempt, @Nullable AttemptToken token) {
    return token == null
        ? attempt(attempt)
        : ByteBuffer.allocate(8 + AttemptToken.LENGTH)
            .putLong(attempt)
            .put(token.toByteArray())
            .array();
  }

  /** The whole value of a settled record. */
  static byte[] settled(Reservation reservation, Settlement settlement) {
    if (settlement instanceof Settlement.Completed completed) {
      StoredResponse response = completed.response();
      int size = FIXED + ResponseFormat.size(response);
      byte[] record = fixed('C', reservation, response.status(), size);
      ResponseFormat.write(response, record, FIXED);
      return record;
    }
    if (settlement instanceof Settlement.NotKept notKept) {
      return fixed('N', reservation, notKept.status(), FIXED);
    }
    byte[] note = reservation.note().toByteArray();
    byte[] record = fixed('U', reservation, 0, FIXED + note.length);
    System.arraycopy(note, 0, record, FIXED, note.length);
    return record;
  }

  /** What of a completed record is behind the fingerprint. */
  static byte[] completion(StoredResponse response) {
    byte[] rest = new byte[FIXED - STATUS_AT + ResponseFormat.size(response)];
    ByteBuffer.wrap(rest).putShort((short) response.status());
    ResponseFormat.write(response, rest, FIXED - STATUS_AT);
    return rest;
  }

  private static byte[] fixed(char state, Reservation reservation, int status, int size) {
    return ByteBuffer.allocate(size)
        .put(VERSION)
        .put((byte) state)
        .putLong(reservation.attempt())
        .put(reservation.token().toByteArray())
        .putLong(reservation.fingerprint().marks())
        .put((byte) reservation.fingerprint().version())
        .put(reservation.fingerprint().hash())
        .putShort((short) status)
        .array();
  }

  /**
   * Reads a record that a script replied.
   *
   * @param reply the script's reply
   * @param at where the record begins in it
   * @param leaseLeft what the script said of the lease, in ms; 0 or less where it ran out
   * @throws StoreUnavailableException if this is not a record that this program knows
   */
  static StoredOperation read(byte[] reply, int at, long leaseLeft) {
    ByteBuffer record = ByteBuffer.wrap(reply, at, reply.length - at).slice();
    if (record.remaining() < FIXED || record.get(0) != VERSION) {
      throw foreign();
    }
    StoredOperation.State state = state(record, reply, at, leaseLeft);
    Fingerprint fingerprint = fingerprint(record);
    if (state == null || fingerprint == null) {
      throw foreign();
    }
    boolean open = record.get(1) == 'R' || record.get(1) == 'U';
    return new StoredOperation(
        record.getLong(2), fingerprint, state, note(record), open ? token(reply, at) : null);
  }

  /** The owner's token, of a record that was read. */
  private static AttemptToken token(byte[] reply, int at) {
    return AttemptToken.of(Arrays.copyOfRange(reply, at + HEAD - AttemptToken.LENGTH, at + HEAD));
  }

  private static Note note(ByteBuffer record) {
    int at =
        switch (record.get(1)) {
          case 'R' -> FIXED + MARKS;
          case 'U' -> FIXED;
          default -> record.limit();
        };
    return at < record.limit() ? Note.read(record.duplicate().position(at)) : Note.NONE;
  }

  private static @Nullable Fingerprint fingerprint(ByteBuffer record) {
    int version = record.get(FINGERPRINT_AT) & 0xff;
    byte[] hash = new byte[Fingerprint.LENGTH];
    record.get(FINGERPRINT_AT + 1, hash);
    if (version != 0) {
      return new Fingerprint(version, hash, marks(record));
    }
    return Arrays.equals(hash, Fingerprint.OPEN.hash()) ? Fingerprint.OPEN : null;
  }

  private static long marks(ByteBuffer record) {
    if (record.get(1) != 'R') {
      return record.getLong(LEASE_AT);
    }
    return record.limit() >= FIXED + MARKS ? record.getLong(FIXED) : Fingerprint.NO_MARKS;
  }

  private static StoredOperation.@Nullable State state(
      ByteBuffer record, byte[] reply, int at, long leaseLeft) {
    int status = record.getShort(STATUS_AT) & 0xffff;
    return switch (record.get(1)) {
      case 'R' ->
          leaseLeft > 0
              ? new StoredOperation.InFlight(Duration.ofMillis(leaseLeft))
              : new StoredOperation.OutcomeUnknown(true);
      case 'U' -> new StoredOperation.OutcomeUnknown(false);
      case 'C' -> {
        StoredResponse response = ResponseFormat.read(status, reply, at + FIXED);
        // Damaged, but done: to take it for nothing would let the operation run again.
        yield response == null
            ? new StoredOperation.NotKept(status)
            : new StoredOperation.Completed(response);
      }
      case 'N' -> new StoredOperation.NotKept(status);
      default -> null;
    };
  }

  static StoreUnavailableException foreign() {
    return StoreUnavailableException.unreadable(
        "the record in Redis is damaged or of a format that this version does not know (expected: "
            + VERSION
            + ")");
  }
}
