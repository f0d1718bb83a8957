package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.idempotency.OpenOperation;
import dev.idempotency.gateway.idempotency.OpenOperations.Entry;
import dev.idempotency.gateway.idempotency.OperationId;
import dev.idempotency.gateway.idempotency.PiecedResponse;
import dev.idempotency.gateway.idempotency.StoredOperation;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.NotKept;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Operations as JSON. Names and values of members are stable. */
final class OperationText {

  static final String IN_FLIGHT = "in-flight";
  static final String UNKNOWN = "unknown";

  private static final String TRACE = "Idempotency-Original-Trace";

  private OperationText() {}

  static String state(StoredOperation operation) {
    return operation
        .state()
        .match(
            inFlight -> IN_FLIGHT,
            unknown -> UNKNOWN,
            completed -> "completed",
            notKept -> "response-not-kept");
  }

  /** Attempt and record, in the form that the command-line tool takes. */
  static String attempt(StoredOperation operation) {
    String holder = HolderName.of(operation);
    return holder == null ? Long.toString(operation.attempt()) : operation.attempt() + ":" + holder;
  }

  /** One line of a list. */
  static String of(OpenOperation open) {
    return head(open.id(), open.operation(), open.overdue()).toString();
  }

  /**
   * All that is known.
   *
   * @param overdue null where nobody knows
   * @param history null where it was not asked for, and is not told
   * @param body whether the stored body is shown
   */
  static String of(
      OperationId id,
      StoredOperation operation,
      @Nullable Duration overdue,
      @Nullable List<Entry> history,
      boolean body) {
    JsonObject json = head(id, operation, overdue);
    json.raw("fingerprint", fingerprint(operation));
    if (operation.state() instanceof Completed completed) {
      json.raw("response", response(completed.response(), body));
    } else if (operation.state() instanceof NotKept notKept) {
      json.raw("response", new JsonObject().number("status", notKept.status()).toString());
    }
    if (history != null) {
      json.array("history", history.stream().map(OperationText::entry).toList());
    }
    return json.toString();
  }

  private static JsonObject head(
      OperationId id, StoredOperation operation, @Nullable Duration overdue) {
    JsonObject json =
        new JsonObject()
            .text("id", id.toString())
            .text("state", state(operation))
            .number("attempt", operation.attempt());
    String holder = HolderName.of(operation);
    if (holder != null) {
      json.text("holder", holder);
    }
    if (operation.state() instanceof InFlight inFlight) {
      json.number("lease_left_ms", inFlight.leaseLeft().toMillis());
    } else if (operation.state() instanceof OutcomeUnknown unknown) {
      json.truth("lapsed", unknown.lapsed());
      if (overdue != null) {
        json.number("overdue_ms", overdue.toMillis());
      }
    }
    return json.text("route", operation.note().route()).text("trace", trace(operation));
  }

  /** Of a finished operation it stands among the fields of its response. */
  static String trace(StoredOperation operation) {
    String trace =
        operation.state() instanceof Completed completed
            ? shown(completed.response()).headers().get(TRACE)
            : null;
    return trace == null ? operation.note().trace() : trace;
  }

  private static String fingerprint(StoredOperation operation) {
    if (operation.fingerprint().isOpen()) {
      return new JsonObject().truth("open", true).toString();
    }
    return new JsonObject()
        .number("version", operation.fingerprint().version())
        .text("hash", HexFormat.of().formatHex(operation.fingerprint().hash()))
        .toString();
  }

  private static String response(StoredResponse stored, boolean body) {
    PiecedResponse pieced = PiecedResponse.of(stored);
    if (pieced == null && stored.isSealed()) {
      return new JsonObject().truth("sealed", true).toString();
    }
    StoredResponse response = shown(stored);
    JsonObject json =
        new JsonObject()
            .number("status", response.status())
            .array("headers", fields(response.headers()))
            .number("body_bytes", pieced == null ? response.body().length : pieced.length());
    if (!response.trailers().isEmpty()) {
      json.array("trailers", fields(response.trailers()));
    }
    if (pieced != null) {
      // Too large to be shown, and it lies elsewhere.
      json.number("pieces", pieced.count());
    } else if (body) {
      body(json, response.body());
    }
    return json.toString();
  }

  private static StoredResponse shown(StoredResponse stored) {
    PiecedResponse pieced = PiecedResponse.of(stored);
    return pieced == null ? stored : pieced.head();
  }

  private static void body(JsonObject json, byte[] body) {
    String text = text(body);
    if (text == null) {
      json.text("body_base64", Base64.getEncoder().encodeToString(body));
    } else {
      json.text("body", text);
    }
  }

  /** Null where the bytes are not the UTF-8 form of a text. */
  private static @Nullable String text(byte[] body) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static List<String> fields(Headers headers) {
    List<String> fields = new ArrayList<>();
    headers.forEach(
        (name, value) ->
            fields.add(new JsonObject().text("name", name).text("value", value).toString()));
    return fields;
  }

  private static String entry(Entry entry) {
    StringBuilder at = new StringBuilder(24);
    Timestamps.append(at, Instant.ofEpochMilli(entry.at()));
    return new JsonObject()
        .text("at", at.toString())
        .text("what", entry.what())
        .number("attempt", entry.attempt())
        .text("who", entry.audit().who())
        .text("why", entry.audit().why())
        .toString();
  }
}
