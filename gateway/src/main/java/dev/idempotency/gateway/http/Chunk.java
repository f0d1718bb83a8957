package dev.idempotency.gateway.http;

/**
 * A piece of a body as the network edge holds it.
 *
 * <p>Ownership: whoever is given a chunk either passes it on or releases it, exactly once.
 * Threading: confined to the event loop of its exchange.
 */
public interface Chunk {

  /** Number of bytes. */
  int length();

  /** Copies all bytes to {@code target} from {@code offset} on. The chunk stays owned. */
  void copyTo(byte[] target, int offset);

  /** Gives the memory back. */
  void release();
}
