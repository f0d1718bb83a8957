package dev.idempotency.gateway.store.envelope;

/** What an encrypted text belongs to, and is refused elsewhere. */
interface Bound {

  /** What is authenticated along with the contents: the envelope's head, then all of this. */
  byte[] behind(byte[] envelope, int head);
}
