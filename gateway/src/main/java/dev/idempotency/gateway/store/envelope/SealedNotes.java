package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.Fingerprint;
import dev.idempotency.gateway.idempotency.Note;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Puts what a note says of the client, its key and its path, out of sight. They lie encrypted in
 * the note's key, behind a character that no client's key has.
 */
final class SealedNotes {

  private static final String MARK = "\u0001";

  private final Envelopes envelopes;

  SealedNotes(Envelopes envelopes) {
    this.envelopes = envelopes;
  }

  Note seal(OperationId id, long attempt, Note note) {
    if (note.key().isEmpty() || note.key().startsWith(MARK)) {
      return note;
    }
    byte[] key = note.key().getBytes(StandardCharsets.UTF_8);
    byte[] target = note.target().getBytes(StandardCharsets.UTF_8);
    byte[] plain =
        ByteBuffer.allocate(2 + key.length + target.length)
            .putShort((short) key.length)
            .put(key)
            .put(target)
            .array();
    StoredResponse sealed =
        envelopes.seal(
            binding(id, attempt), new StoredResponse(0, new Headers(), plain, new Headers()), true);
    return sealed.isSealed()
        ? new Note(
            note.route(),
            note.trace(),
            MARK + Base64.getEncoder().encodeToString(sealed.body()),
            "")
        : note;
  }

  /** Without key and path where they can't be read. */
  Note open(OperationId id, long attempt, Note note) {
    if (!note.key().startsWith(MARK)) {
      return note;
    }
    try {
      byte[] envelope = Base64.getDecoder().decode(note.key().substring(MARK.length()));
      StoredResponse sealed =
          new StoredResponse(0, Headers.of(StoredResponse.SEALED, "1"), envelope, new Headers());
      ByteBuffer plain = ByteBuffer.wrap(envelopes.open(binding(id, attempt), sealed).body());
      byte[] key = new byte[plain.getShort() & 0xffff];
      plain.get(key);
      byte[] target = new byte[plain.remaining()];
      plain.get(target);
      return new Note(
          note.route(),
          note.trace(),
          new String(key, StandardCharsets.UTF_8),
          new String(target, StandardCharsets.UTF_8));
    } catch (UnreadableException | RuntimeException e) {
      return new Note(note.route(), note.trace(), "", "");
    }
  }

  /** A note stays while the request's fingerprint becomes known. */
  private static Binding binding(OperationId id, long attempt) {
    return new Binding(id, attempt, Fingerprint.OPEN, 0);
  }
}
