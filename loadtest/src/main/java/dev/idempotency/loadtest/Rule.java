package dev.idempotency.loadtest;

/** What must hold, by the name that reports use. */
enum Rule {
  FRESH_SUCCEEDS("a new key is answered with 2xx"),
  FRESH_IS_NO_REPLAY("the answer to a new key is not marked as a replay"),
  REPLAY_IS_MARKED("a replay says Idempotent-Replayed: true"),
  REPLAY_IS_EQUAL("a replay has the status and the body of the first answer"),
  REPLAY_SUCCEEDS("a key that was answered is answered again"),
  ONE_ORIGINAL("of requests at the same time exactly one is executed"),
  DUPLICATE_WAITS_OR_REPLAYS("the others get 409 request-in-flight or the same answer"),
  IN_FLIGHT_SAYS_WHEN("409 request-in-flight carries Retry-After"),
  MISMATCH_IS_REFUSED("another request under the same key gets 422 key-reused"),
  ONE_EFFECT("an operation that was answered happened once"),
  AT_MOST_ONE_EFFECT("no operation happened twice"),
  ONE_ATTEMPT("nothing but the first request reached the upstream"),
  NO_STRANGERS("the upstream saw no key of this run that was not sent"),
  LEDGER_IS_COMPLETE("the upstream's ledger has every key"),
  ANSWERS_ARE_EQUAL("all that are told of an operation's success are told the same"),
  NO_ANSWER_OF_ANOTHER("no operation is answered with the answer of another, or of another scope"),
  ATTEMPTS_ARE_ALLOWED("an operation is attempted again only where its route says so"),
  ATTEMPTS_ARE_NUMBERED("no two attempts of an operation have one number"),
  ACKNOWLEDGED_HAPPENED("an operation that was acknowledged is in the ledger"),
  NOTHING_IS_STUCK(
      "in the end every operation is done, or held where its route says hold or guard"),
  REUSE_ONLY_IS_REFUSED("422 key-reused is for another request under the same key, and only that"),
  BYPASS_WHERE_ALLOWED("nothing is forwarded without protection unless the route says so"),
  GATEWAYS_STAY("a gateway gets ready, and ends only when it is killed");

  private final String promise;

  Rule(String promise) {
    this.promise = promise;
  }

  String promise() {
    return promise;
  }
}
