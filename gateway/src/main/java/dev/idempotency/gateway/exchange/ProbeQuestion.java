package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import dev.idempotency.gateway.idempotency.Note;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an upstream is asked about an operation.
 *
 * @param body not to be modified until it is answered
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ProbeQuestion(RequestHead head, byte[] body) {

  /** By which proxies and applications know who asks. */
  private static final Set<String> CREDENTIALS = Set.of("authorization", "cookie");

  /**
   * The question by the route's template; null where what it needs is not known, or can't be put
   * into it safely.
   *
   * @param note where the operation comes from
   * @param asker the fields of a duplicate as they would be forwarded; null where nobody asks
   */
  static @Nullable ProbeQuestion of(
      Route route, ProbeRule rule, Note note, long attempt, @Nullable Headers asker) {
    String url = rule.url();
    String target = url == null ? null : ProbeUrl.of(url, route.path(), note.target(), note.key());
    if (target == null) {
      return null;
    }
    Headers fields = rule.headers().copy();
    // What a caller proves itself with is for the service that it called, and for no other.
    if (asker != null && rule.upstream() == route.upstream()) {
      identify(fields, asker, route.callers());
    }
    if (!fields.contains("Cache-Control")) {
      // An old answer may say "never" of what has happened since (RFC 9111 §5.2.1.4).
      fields.add("Cache-Control", "no-cache, no-store");
    }
    fields.set("Idempotency-Probe", "true");
    if (reruns(route, rule)) {
      // By it the upstream can bar the attempt that it says never happened. A key that is released
      // begins with the first attempt again, which must not be barred.
      fields.set("Idempotency-Attempt", Long.toString(attempt));
    }
    return new ProbeQuestion(RequestHead.of("GET", target, fields), Response.NO_BODY);
  }

  /**
   * The request itself as a question.
   *
   * @param forwarded the head as it would be forwarded
   */
  static ProbeQuestion same(RequestHead forwarded, byte[] body, ProbeRule rule) {
    Headers fields = forwarded.headers();
    rule.headers().forEach(fields::set);
    fields.set("Idempotency-Probe", "true");
    return new ProbeQuestion(forwarded, body);
  }

  /**
   * Whether what never happened is followed by a further attempt; otherwise its key is released.
   */
  static boolean reruns(Route route, ProbeRule rule) {
    // A body that streamed is gone.
    return rule.rerun() && !route.streamsRequest();
  }

  /**
   * Without whose key it is, the upstream might tell of another caller's operation of the same key,
   * or say "never" of this one. What the rule names counts before what the caller says.
   */
  private static void identify(Headers fields, Headers asker, Route.Callers callers) {
    Set<String> names = new HashSet<>(CREDENTIALS);
    for (ScopePart part : callers.scope()) {
      String name = part instanceof ScopePart.Authorized said ? said.name() : part.field();
      if (name != null) {
        names.add(name.toLowerCase(Locale.ROOT));
      }
    }
    Authorizer authorizer = callers.authorizer();
    if (authorizer != null) {
      names.addAll(authorizer.copied());
    }
    names.removeIf(fields::contains);
    asker.forEach(
        (name, value) -> {
          if (names.contains(name.toLowerCase(Locale.ROOT))) {
            fields.add(name, value);
          }
        });
  }
}
