package dev.idempotency.loadtest;

/** How the laboratory's Redis is set up. */
enum Topology {
  /** One server. */
  STANDALONE,
  /** A primary with a replica, under three sentinels. */
  SENTINEL,
  /** A Cluster of three masters. */
  CLUSTER
}
