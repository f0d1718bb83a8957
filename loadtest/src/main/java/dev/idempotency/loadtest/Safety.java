package dev.idempotency.loadtest;

/** What the laboratory's route asks for, so that no record is lost unnoticed. */
enum Safety {
  /** Nothing. */
  NONE(""),
  /** A write counts when a replica has it. */
  REPLICAS("durability: { replicas: 1, completions: true }"),
  /**
   * After a loss only keys are taken that are younger than the loss. Clients and gateways have one
   * clock here.
   */
  GUARD(
      "guard: 10m\n"
          + "    key: { header: Idempotency-Key, pattern: uuid7, time-bound: true, skew: 0s }");

  private final String yaml;

  Safety(String yaml) {
    this.yaml = yaml;
  }

  /** Lines of the route. */
  String yaml() {
    return yaml;
  }
}
