package dev.idempotency.gateway.store.envelope;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * Puts responses into envelopes and takes them out again. To a store an envelope is a response with
 * the same status, the one field {@link StoredResponse#SEALED}, no trailers, and as its body:
 *
 * <table>
 * <caption>Fields</caption>
 * <tr><th>bytes</th><th>field</th></tr>
 * <tr><td>1</td><td>format: 1</td></tr>
 * <tr><td>1</td><td>bits: 1 the body is compressed, 2 the contents are encrypted</td></tr>
 * <tr><td>4</td><td>length of the body before it was compressed</td></tr>
 * <tr><td colspan=2>where they are encrypted:</td></tr>
 * <tr><td>1</td><td>length of the key's id</td></tr>
 * <tr><td>–</td><td>the key's id in ASCII</td></tr>
 * <tr><td>60</td><td>the record's own key, encrypted with that key: nonce, ciphertext, tag</td></tr>
 * <tr><td>12</td><td>nonce of the contents</td></tr>
 * <tr><td colspan=2>always:</td></tr>
 * <tr><td>–</td><td>the {@link Contents}</td></tr>
 * <tr><td>16</td><td>tag, where they are encrypted</td></tr>
 * </table>
 *
 * <p>Both encryptions are AES-256-GCM. They authenticate what stands before the record's key, and
 * the {@link Binding}.
 *
 * <p>Threading: safe from any thread.
 */
final class Envelopes {

  private static final byte FORMAT = 1;
  private static final int DEFLATED = 1;
  private static final int ENCRYPTED = 2;
  private static final int LENGTH_AT = 2;
  private static final int PLAIN_HEAD = 6;
  private static final int WRAPPED = Gcm.KEY + Gcm.OVERHEAD;
  private static final byte[] NOTHING = {};

  private final Map<String, SecretKey> keys = new LinkedHashMap<>();
  private final byte[] writer;
  private final @Nullable SecretKey writing;
  private final int compressFrom;
  private final int most;

  /**
   * @param most bytes of a body that is taken out
   */
  Envelopes(EnvelopeOptions options, int most) {
    options.keys().forEach(key -> keys.put(key.id(), Gcm.key(key.secret())));
    this.writer =
        options.keys().isEmpty()
            ? NOTHING
            : options.keys().get(0).id().getBytes(StandardCharsets.US_ASCII);
    this.writing = keys.values().stream().findFirst().orElse(null);
    this.compressFrom = options.compressFrom();
    this.most = most;
  }

  /** Whether that response is put into an envelope at all. */
  boolean take(StoredResponse response) {
    return writing != null || isLongText(response);
  }

  private boolean isLongText(StoredResponse response) {
    return compressFrom > 0
        && response.body().length >= compressFrom
        && Compressible.is(response.headers());
  }

  /**
   * The response in its envelope, or as it is where nothing is to be done.
   *
   * @param hurried whether there is no time to compress
   */
  StoredResponse seal(Binding binding, StoredResponse response, boolean hurried) {
    byte[] shorter = !hurried && isLongText(response) ? Deflate.deflated(response.body()) : null;
    if (writing == null && shorter == null) {
      return response;
    }
    byte[] fields = Contents.fields(response);
    byte[] body = shorter == null ? response.body() : shorter;
    byte[] head = head(shorter != null, response.body().length);
    byte[] envelope =
        writing == null
            ? plain(head, fields, body)
            : encrypted(writing, binding, head, fields, body);
    return new StoredResponse(
        response.status(), Headers.of(StoredResponse.SEALED, "1"), envelope, new Headers());
  }

  private byte[] head(boolean deflated, int length) {
    boolean encrypted = writing != null;
    ByteBuffer head = ByteBuffer.allocate(encrypted ? PLAIN_HEAD + 1 + writer.length : PLAIN_HEAD);
    head.put(FORMAT);
    head.put((byte) ((deflated ? DEFLATED : 0) | (encrypted ? ENCRYPTED : 0)));
    head.putInt(length);
    if (encrypted) {
      head.put((byte) writer.length).put(writer);
    }
    return head.array();
  }

  private static byte[] plain(byte[] head, byte[] fields, byte[] body) {
    return ByteBuffer.allocate(Math.addExact(head.length + fields.length, body.length))
        .put(head)
        .put(fields)
        .put(body)
        .array();
  }

  private static byte[] encrypted(
      SecretKey key, Bound binding, byte[] head, byte[] fields, byte[] body) {
    int start = head.length + WRAPPED;
    byte[] envelope =
        Arrays.copyOf(head, Math.addExact(start + fields.length + Gcm.OVERHEAD, body.length));
    byte[] bound = binding.behind(head, head.length);
    byte[] own = Gcm.random(Gcm.KEY);
    Gcm.seal(key, bound, own, NOTHING, envelope, head.length);
    Gcm.seal(Gcm.key(own), bound, fields, body, envelope, start);
    Arrays.fill(own, (byte) 0);
    return envelope;
  }

  /** How many bytes there are to work on: as long as the envelope is, or its body was. */
  static int work(StoredResponse sealed) {
    byte[] envelope = sealed.body();
    return envelope.length < PLAIN_HEAD
        ? envelope.length
        : Math.max(envelope.length, ByteBuffer.wrap(envelope).getInt(LENGTH_AT));
  }

  /**
   * The response that was put in.
   *
   * @throws UnreadableException if it can't be taken out; the message names the key where there is
   *     one
   */
  StoredResponse open(Binding binding, StoredResponse sealed) throws UnreadableException {
    byte[] envelope = sealed.body();
    if (envelope.length < PLAIN_HEAD) {
      throw new UnreadableException("it is cut off");
    }
    int bits = envelope[1];
    if (envelope[0] != FORMAT || (bits & ~(DEFLATED | ENCRYPTED)) != 0) {
      throw new UnreadableException("it is of a format that this version does not know");
    }
    int length = ByteBuffer.wrap(envelope).getInt(LENGTH_AT);
    if (length < 0 || length > most) {
      throw new UnreadableException(
          "its body has " + length + " bytes (expected: 0 to " + most + ")");
    }
    boolean deflated = (bits & DEFLATED) != 0;
    // Without a key nobody vouches for it, as for any response that a store keeps in clear.
    return (bits & ENCRYPTED) == 0
        ? Contents.read(sealed.status(), envelope, PLAIN_HEAD, deflated, length)
        : Contents.read(sealed.status(), decrypted(binding, envelope), 0, deflated, length);
  }

  /** Whether anything is encrypted. */
  boolean encrypt() {
    return writing != null;
  }

  /** A piece of a response, encrypted; there is a key. */
  byte[] seal(PieceBinding binding, byte[] piece) {
    SecretKey key = writing;
    if (key == null) {
      throw new IllegalStateException("there is no key");
    }
    return encrypted(key, binding, head(false, piece.length), NOTHING, piece);
  }

  /**
   * The piece that was encrypted.
   *
   * @throws UnreadableException if it can't be taken out
   */
  byte[] open(PieceBinding binding, byte[] sealed) throws UnreadableException {
    if (sealed.length < PLAIN_HEAD || sealed[0] != FORMAT || sealed[1] != ENCRYPTED) {
      throw new UnreadableException("it is of a format that this version does not know");
    }
    return decrypted(binding, sealed);
  }

  private byte[] decrypted(Bound binding, byte[] envelope) throws UnreadableException {
    int from = PLAIN_HEAD + 1;
    int head = envelope.length < from ? envelope.length : from + (envelope[PLAIN_HEAD] & 0xff);
    if (envelope.length < head + WRAPPED) {
      throw new UnreadableException("it is cut off");
    }
    String id = new String(envelope, from, head - from, StandardCharsets.US_ASCII);
    if (!EnvelopeOptions.Key.isId(id)) {
      throw new UnreadableException("it was changed");
    }
    SecretKey key = keys.get(id);
    if (key == null) {
      throw new UnreadableException("its key \"" + id + "\" is not among the keys");
    }
    byte[] bound = binding.behind(envelope, head);
    try {
      byte[] own = Gcm.open(key, bound, envelope, head, head + WRAPPED);
      SecretKey recordKey = Gcm.key(own);
      Arrays.fill(own, (byte) 0);
      return Gcm.open(recordKey, bound, envelope, head + WRAPPED, envelope.length);
    } catch (UnreadableException e) {
      throw new UnreadableException(e.getMessage() + ", key \"" + id + "\"");
    }
  }
}
