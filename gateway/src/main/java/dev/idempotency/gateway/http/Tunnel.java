package dev.idempotency.gateway.http;

/**
 * One end of a connection that carries the bytes of another protocol (RFC 9110 §7.8). Each
 * direction ends for itself.
 *
 * <p>Threading: event loop of the connection only. Failure: no method throws; a connection that is
 * gone swallows and releases what it is given.
 */
public interface Tunnel {

  /** Delivers what came and what comes from now on; called once. */
  void open(Receiver receiver);

  /** Takes over the chunk. */
  void write(Chunk chunk);

  /** Sends what was written. */
  void flush();

  /** Ends the sending side once all that was written is out. */
  void end();

  /** Closes the connection, after a moment for what was written to go out. */
  void close();

  /** Whether more can be written without piling up in memory. */
  boolean isWritable();

  /** Delivers nothing more until {@link #resume}. */
  void pause();

  /** Delivers again. */
  void resume();

  /** Who hears what comes out of a tunnel. No method may throw. */
  interface Receiver {

    /** Bytes; taken over. */
    void chunk(Chunk chunk);

    /** Everything that could be read for now has been delivered. */
    void flush();

    /** The peer sends nothing more. */
    void end();

    /** More can be written again. */
    void writable();

    /** The connection is gone, both ways; nothing more comes. */
    void closed();
  }
}
