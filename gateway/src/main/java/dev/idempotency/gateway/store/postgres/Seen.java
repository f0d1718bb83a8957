package dev.idempotency.gateway.store.postgres;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.StoreUnavailableException;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredResponse;
import dev.idempotency.gateway.idempotency.WriteReply;
import java.nio.ByteBuffer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads what the commands answer: columns of the type {@code seen}, the first one the reply. */
final class Seen {

  private Seen() {}

  static ReserveReply reserve(ResultSet row) throws SQLException {
    return switch (reply(row)) {
      case "A" -> ReserveReply.ACQUIRED;
      case "E" -> new ReserveReply.Existing(operation(row));
      case "G" -> ReserveReply.GONE;
      default -> throw foreign();
    };
  }

  static WriteReply write(ResultSet row) throws SQLException {
    return switch (reply(row)) {
      case "D" -> WriteReply.DONE;
      case "F" -> new WriteReply.Fenced(operation(row));
      default -> throw foreign();
    };
  }

  static ResolveReply resolve(ResultSet row) throws SQLException {
    return switch (reply(row)) {
      case "D" -> ResolveReply.DONE;
      case "F" -> new ResolveReply.Refused(operation(row));
      case "G" -> ResolveReply.GONE;
      default -> throw foreign();
    };
  }

  static Optional<StoredOperation> find(ResultSet row) throws SQLException {
    return switch (reply(row)) {
      case "E" -> Optional.of(operation(row));
      case "G" -> Optional.empty();
      default -> throw foreign();
    };
  }

  private static String reply(ResultSet row) throws SQLException {
    if (!row.next()) {
      throw foreign();
    }
    return String.valueOf(row.getString("reply"));
  }

  /** The operation in the row; the same columns without the reply do. */
  static StoredOperation operation(ResultSet row) throws SQLException {
    Fingerprint fingerprint = fingerprint(row);
    StoredOperation.State state = state(row);
    if (fingerprint == null || state == null) {
      throw foreign();
    }
    byte[] note = row.getBytes("note");
    boolean open =
        state instanceof StoredOperation.InFlight
            || state instanceof StoredOperation.OutcomeUnknown;
    return new StoredOperation(
        row.getLong("attempt"),
        fingerprint,
        state,
        open && note != null ? Note.read(ByteBuffer.wrap(note)) : Note.NONE,
        open ? AttemptToken.of(row.getBytes("token")) : null);
  }

  private static @Nullable Fingerprint fingerprint(ResultSet row) throws SQLException {
    int version = row.getInt("fingerprint_version");
    byte[] hash = row.getBytes("fingerprint");
    if (hash == null || hash.length != Fingerprint.LENGTH || version < 0 || version > 255) {
      return null;
    }
    if (version != 0) {
      return new Fingerprint(version, hash, row.getLong("marks"));
    }
    return Arrays.equals(hash, Fingerprint.OPEN.hash()) ? Fingerprint.OPEN : null;
  }

  private static StoredOperation.@Nullable State state(ResultSet row) throws SQLException {
    return switch (String.valueOf(row.getString("state"))) {
      case "R" -> {
        long left = row.getLong("lease_left");
        yield left > 0
            ? new StoredOperation.InFlight(Duration.ofMillis(left))
            : new StoredOperation.OutcomeUnknown(true);
      }
      case "U" -> new StoredOperation.OutcomeUnknown(false);
      case "C" -> completed(row);
      case "N" -> new StoredOperation.NotKept(row.getInt("status"));
      default -> null;
    };
  }

  private static StoredOperation.State completed(ResultSet row) throws SQLException {
    int status = row.getInt("status");
    FieldsFormat.Fields fields = FieldsFormat.read(row.getBytes("fields"));
    byte[] body = row.getBytes("body");
    // Damaged, but done: to take it for nothing would let the operation run again.
    return fields == null || body == null
        ? new StoredOperation.NotKept(status)
        : new StoredOperation.Completed(
            new StoredResponse(status, fields.headers(), body, fields.trailers()));
  }

  static StoreUnavailableException foreign() {
    return StoreUnavailableException.unreadable(
        "the record in PostgreSQL is damaged or of a form that this version does not know");
  }
}
