package dev.idempotency.gateway.server;

/** A client's connection of whatever protocol, as the server sees it. Event loop only. */
interface ClientConnection {

  /** Called at every beat of the server, some times a second. */
  void beat(long now);

  /** The server stops: ends when what is under way has been answered. */
  void drain();

  /** Ends at once. */
  void close();
}
