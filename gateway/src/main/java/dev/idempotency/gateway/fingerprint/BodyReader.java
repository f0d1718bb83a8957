package dev.idempotency.gateway.fingerprint;

import dev.idempotency.gateway.fingerprint.BodyForm.Kind;
import dev.idempotency.gateway.http.Headers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds as what a body counts by a route's rule: undoes its content codings, then reads it by its
 * media type. What can't be undone or read counts as the bytes that came.
 *
 * <p>Threading: safe from any thread.
 */
final class BodyReader {

  private final FingerprintRule rule;
  private final @Nullable PointerTree ignored;
  private final @Nullable PointerTree chosen;

  BodyReader(FingerprintRule rule) {
    this.rule = rule;
    this.ignored = PointerTree.of(rule.ignore());
    this.chosen = PointerTree.choosing(rule.only(), rule.ignore());
  }

  /** The form, or null where the body is larger than allowed once its codings are undone. */
  @Nullable BodyForm read(Workbench bench, Headers headers, byte[] body) {
    if (rule.rawBody()) {
      return BodyForm.raw(headers, hash(bench, body, body.length));
    }
    MediaType type = RequestFrame.singleMediaType(headers);
    return RequestFrame.isCoded(headers)
        ? decoded(bench, headers, type, body)
        : form(bench, type, List.of(), body);
  }

  private @Nullable BodyForm decoded(
      Workbench bench, Headers headers, @Nullable MediaType type, byte[] body) {
    List<String> codings = ContentDecoder.codings(headers.all("content-encoding"));
    if (ContentDecoder.knows(codings)) {
      ContentDecoder decoder = new ContentDecoder(codings, rule.decodedLimit());
      ContentDecoder.Result result = decoder.decode(body);
      if (result == ContentDecoder.Result.TOO_LARGE) {
        return null;
      }
      if (result == ContentDecoder.Result.DECODED) {
        return form(bench, type, decoder.found(), decoder.content());
      }
    }
    return BodyForm.raw(headers, hash(bench, body, body.length));
  }

  private BodyForm form(
      Workbench bench, @Nullable MediaType type, List<String> codings, byte[] content) {
    Kind kind = type == null ? Kind.RAW : kind(bench, type, content);
    byte[] hash =
        switch (kind) {
          case RAW -> hash(bench, content, content.length);
          case JSON, JSON_CHOSEN -> hash(bench, bench.json.bytes(), bench.json.length());
          case FORM -> {
            bench.form.write(bench.text, null);
            yield hash(bench, bench.text.bytes, bench.text.length);
          }
          case MULTIPART -> {
            bench.digest.reset();
            bench.multipart.update(bench.digest);
            yield bench.digest.digest();
          }
        };
    clear(bench, kind);
    return new BodyForm(kind, type, codings, hash);
  }

  private Kind kind(Workbench bench, MediaType type, byte[] content) {
    return switch (type.kind()) {
      case JSON -> json(bench, content);
      case FORM -> bench.form.read(content) ? Kind.FORM : Kind.RAW;
      case MULTIPART ->
          bench.multipart.read(content, String.valueOf(type.boundary()))
              ? Kind.MULTIPART
              : Kind.RAW;
      case OTHER -> Kind.RAW;
    };
  }

  private Kind json(Workbench bench, byte[] content) {
    if (chosen != null) {
      if (!bench.json.canonicalize(content, chosen)) {
        return Kind.RAW;
      }
      if (bench.json.isChosen()) {
        return Kind.JSON_CHOSEN;
      }
      // Nothing that was chosen is there: that must not make all such documents the same.
    }
    return bench.json.canonicalize(content, ignored) ? Kind.JSON : Kind.RAW;
  }

  private static byte[] hash(Workbench bench, byte[] bytes, int length) {
    bench.digest.reset();
    bench.digest.update(bytes, 0, length);
    return bench.digest.digest();
  }

  /** Gives back the memory of large bodies. */
  private static void clear(Workbench bench, Kind kind) {
    switch (kind) {
      case JSON, JSON_CHOSEN -> bench.json.clear();
      case FORM -> {
        bench.form.clear();
        bench.text.clear(CanonicalText.INITIAL);
      }
      case MULTIPART -> bench.multipart.clear();
      case RAW -> {
        // A document without a form was read up to where it breaks.
        bench.json.clear();
        bench.form.clear();
        bench.multipart.clear();
      }
    }
  }
}
