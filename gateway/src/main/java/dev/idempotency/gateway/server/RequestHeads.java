package dev.idempotency.gateway.server;

import dev.idempotency.gateway.exchange.Problems;
import dev.idempotency.gateway.http.Authority;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.HopByHop;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.http.Response;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Judges the heads of requests, whatever version of HTTP brought them: one reading of each, or a
 * refusal. What only one version can get wrong, such as framing, is judged before.
 *
 * <p>Threading: immutable, safe from any thread.
 */
final class RequestHeads {

  private static final int MOST_METHOD_LENGTH = 32;

  private final ServerOptions options;
  private final RequestTarget targets;

  /**
   * @param scheme of the listener: "http" or "https"
   */
  RequestHeads(ServerOptions options, String scheme) {
    this.options = options;
    this.targets = new RequestTarget(scheme, options.paths());
  }

  /** What becomes of a request. */
  sealed interface Verdict {
    /** It goes on: the target in origin-form and normal, exactly one Host where one was named. */
    record Good(RequestHead head) implements Verdict {}

    /** There is nothing wrong with it, and it is for the gateway itself. */
    record Answered(Response response) implements Verdict {}

    /** It goes no further, and over HTTP/1.1 nothing more comes from this connection. */
    record Refused(Response response) implements Verdict {}
  }

  /**
   * Judges one head. Its headers become those of the head that is good and may change.
   *
   * @param authority of HTTP/2: {@code :authority}, or Host where there is none; null in HTTP/1
   * @param target as it came: {@code :path} of HTTP/2, any form in HTTP/1
   * @param hostDemanded whether a request without any host is refused
   */
  Verdict judge(
      String method,
      @Nullable String authority,
      String target,
      Headers headers,
      boolean hostDemanded) {
    Response refusal = refusalOf(method, headers);
    if (refusal != null) {
      return new Verdict.Refused(refusal);
    }
    RequestTarget.Reading reading = targets.read(method, authority, target, headers, hostDemanded);
    if (reading instanceof RequestTarget.Reading.Bad bad) {
      return new Verdict.Refused(Problems.badRequest(bad.detail()).toResponse());
    }
    Authority host = reading.host();
    if (host != null && !isServed(host)) {
      return new Verdict.Refused(Refusals.misdirected());
    }
    if (reading instanceof RequestTarget.Reading.Good good) {
      return method.equals("OPTIONS") ? options(good.head()) : new Verdict.Good(good.head());
    }
    return new Verdict.Answered(Refusals.allowed());
  }

  private @Nullable Response refusalOf(String method, Headers headers) {
    if (!isMethod(method)) {
      return Problems.badRequest("The method is not a token of at most 32 characters.")
          .toResponse();
    }
    if (headers.size() > options.headerCount()) {
      return Refusals.tooManyFields();
    }
    if (method.equals("CONNECT")) {
      return Refusals.notImplemented("CONNECT is not supported.");
    }
    if (method.equals("TRACE")) {
      return Refusals.traceNotAllowed();
    }
    if (headers.contains("Connection")) {
      String name = HopByHop.forbiddenNomination(headers.all("Connection"));
      if (name != null) {
        return Problems.badRequest(
                "The header Connection must not name " + name + ", which is for the whole way.")
            .toResponse();
      }
    }
    boolean known =
        !headers.contains("Expect")
            || headers.all("Expect").stream().allMatch(e -> e.equalsIgnoreCase("100-continue"));
    return known ? null : Refusals.expectationFailed();
  }

  static boolean isMethod(String method) {
    if (method.isEmpty() || method.length() > MOST_METHOD_LENGTH) {
      return false;
    }
    for (int i = 0; i < method.length(); i++) {
      if (!Octets.isToken(method.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  private boolean isServed(Authority host) {
    return options.hosts().isEmpty()
        || options.hosts().contains(host.host())
        || (host.host().startsWith("[")
            && options.hosts().contains(host.host().substring(1, host.host().length() - 1)));
  }

  /** Max-Forwards says which of the servers on the way is asked (RFC 9110 §7.6.2). */
  private static Verdict options(RequestHead head) {
    List<String> values = head.headers().all("Max-Forwards");
    if (values.isEmpty()) {
      return new Verdict.Good(head);
    }
    String value = values.get(0);
    if (values.size() > 1 || value.isEmpty() || !value.chars().allMatch(Octets::isDigit)) {
      return new Verdict.Refused(
          Problems.badRequest("The header Max-Forwards is not a number.").toResponse());
    }
    long left = value.length() > 9 ? 999_999_999 : Long.parseLong(value);
    if (left == 0) {
      return new Verdict.Answered(Refusals.allowed());
    }
    head.headers().set("Max-Forwards", Long.toString(left - 1));
    return new Verdict.Good(head);
  }
}
