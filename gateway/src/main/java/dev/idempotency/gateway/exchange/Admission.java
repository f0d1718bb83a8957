package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Who calls, as far as the route wants to know; or why the call goes no further. */
sealed interface Admission {

  /** The caller is known. */
  record Admitted(Caller caller) implements Admission {}

  /** The request is refused. */
  record Refused(Result result, ProblemDetails problem) implements Admission {}

  /** Judges by what the request itself says. */
  static Admission of(Headers headers, Peer peer, Route.Callers callers) {
    List<@Nullable String> identity = new ArrayList<>(2);
    Refused refused = identify(headers, peer, callers, identity);
    return refused != null ? refused : new Admitted(new Caller(identity, new Headers()));
  }

  /** Gathers the parts of the caller's identity; gives the refusal where one is missing. */
  private static @Nullable Refused identify(
      Headers headers, Peer peer, Route.Callers callers, List<@Nullable String> identity) {
    if (callers.scope().isEmpty()) {
      return identify(headers, "Authorization", false, identity);
    }
    for (ScopePart part : callers.scope()) {
      Refused refused = identify(headers, peer, part, identity);
      if (refused != null) {
        return refused;
      }
    }
    return null;
  }

  private static @Nullable Refused identify(
      Headers headers, Peer peer, ScopePart part, List<@Nullable String> identity) {
    if (part instanceof ScopePart.Header header) {
      return identify(headers, header.name(), true, identity);
    }
    if (part instanceof ScopePart.Credential credential) {
      return identify(headers, credential.name(), true, identity);
    }
    // What nobody verifies is not there.
    return part instanceof ScopePart.CertificateSubject
        ? identify(peer, identity)
        : missing(Problems.identityMissing("Authorization"));
  }

  private static @Nullable Refused identify(
      Headers headers, String name, boolean demanded, List<@Nullable String> identity) {
    List<String> values = headers.all(name);
    if (values.size() > 1) {
      return new Refused(
          Result.BAD_REQUEST,
          Problems.badRequest("The header " + name + " is sent " + values.size() + " times."));
    }
    String value = values.isEmpty() ? null : values.get(0);
    if (demanded && (value == null || value.isBlank())) {
      return missing(Problems.identityMissing(name));
    }
    identity.add(value);
    return null;
  }

  private static @Nullable Refused identify(Peer peer, List<@Nullable String> identity) {
    if (peer.subject() == null) {
      return missing(Problems.certificateMissing());
    }
    identity.add(peer.subject());
    return null;
  }

  private static Refused missing(ProblemDetails problem) {
    return new Refused(Result.IDENTITY_MISSING, problem);
  }
}
