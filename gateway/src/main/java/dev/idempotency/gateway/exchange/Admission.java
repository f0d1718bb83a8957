package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.ProblemDetails;
import dev.idempotency.gateway.http.Response;

/** Who calls, as far as the route wants to know; or why the call goes no further. */
sealed interface Admission {

  /** The caller is known. */
  record Admitted(Caller caller) implements Admission {}

  /** The request is refused. */
  record Refused(Result result, ProblemDetails problem) implements Admission {}

  /** The request is refused in the words of somebody else. */
  record Denied(Response response) implements Admission {}
}
