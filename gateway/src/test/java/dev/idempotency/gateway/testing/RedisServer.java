package dev.idempotency.gateway.testing;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * A real Redis for tests; a machine without one still gets one, so that no test is skipped.
 *
 * <p>{@link #shared()} takes, in this order: the server that the environment variable {@code
 * REDIS_URL} names; a container, where a container engine answers; {@code redis-server} 7 or later
 * on the path; the static binary among the test dependencies. {@link #start} always runs a local
 * process (the last two), because its tests stop, freeze and kill it.
 *
 * <p>Local servers die with this JVM however it ends, and keep nothing on disk unless told to.
 */
public final class RedisServer implements AutoCloseable {

  private static final Object LOCK = new Object();
  private static RedisServer shared;

  private final List<String> options;
  private final String url;
  private RedisProcess process;

  private RedisServer(String url, RedisProcess process, List<String> options) {
    this.url = url;
    this.process = process;
    this.options = options;
  }

  /** The server of this JVM. Others use it too: no flush, no stop, names of one's own. */
  public static RedisServer shared() {
    synchronized (LOCK) {
      if (shared == null) {
        shared = findShared();
      }
      return shared;
    }
  }

  /**
   * A server of one's own on a free port.
   *
   * @param options added to the command line, such as {@code "--maxmemory", "2mb"}
   */
  public static RedisServer start(String... options) {
    RedisProcess process = RedisProcess.start(0, List.of(options));
    return new RedisServer(
        "redis://127.0.0.1:" + process.port(), process, List.copyOf(List.of(options)));
  }

  /** A sentinel on a free port. */
  static RedisServer startSentinel(Path file) {
    RedisProcess process = RedisProcess.startSentinel(file);
    return new RedisServer("redis://127.0.0.1:" + process.port(), process, List.of());
  }

  private static RedisServer findShared() {
    String named = System.getenv("REDIS_URL");
    if (named != null && !named.isBlank()) {
      return new RedisServer(named, null, List.of());
    }
    String contained = ContainerEngine.answers() ? RedisContainer.start() : null;
    return contained != null ? new RedisServer(contained, null, List.of()) : start();
  }

  /** Such as {@code redis://127.0.0.1:6379}. */
  public String url() {
    return url;
  }

  public String host() {
    return URI.create(url).getHost();
  }

  public int port() {
    int port = URI.create(url).getPort();
    return port < 0 ? 6379 : port;
  }

  /** Whether {@link #stop}, {@link #restart}, {@link #pause} and the like can be used. */
  public boolean isLocal() {
    return process != null;
  }

  /** Ends the server at once, as a crash does; its port refuses from now on. */
  public void stop() {
    local().kill();
  }

  /** The same as {@link #stop}: there is no graceful end to test against. */
  public void kill() {
    stop();
  }

  /** Starts again on the same port, empty unless the options keep data; waits until it answers. */
  public void restart() {
    int port = local().port();
    stop();
    process = RedisProcess.start(port, options);
  }

  /** Freezes the process: connections stay, nothing is answered. */
  public void pause() {
    local().signal("STOP");
  }

  /** Goes on after {@link #pause}. */
  public void resume() {
    local().signal("CONT");
  }

  /**
   * Sends one command over a connection of its own and waits for the reply.
   *
   * @return simple strings, numbers and bulk strings as text (ISO 8859-1), arrays with a line per
   *     member, an absent value as null, an error with its leading {@code -}
   */
  public String call(String... command) {
    try (RespConnection connection = new RespConnection(host(), port())) {
      String userInfo = URI.create(url).getUserInfo();
      if (userInfo != null) {
        String password = userInfo.substring(userInfo.indexOf(':') + 1);
        String user = userInfo.substring(0, Math.max(0, userInfo.indexOf(':')));
        connection.call(
            user.isEmpty()
                ? new String[] {"AUTH", password}
                : new String[] {"AUTH", user, password});
      }
      return connection.call(command);
    } catch (IOException e) {
      throw new IllegalStateException("Redis at port " + port() + " did not answer", e);
    }
  }

  /** Ends a server that {@link #start} made; leaves the shared one alone. */
  @Override
  public void close() {
    if (process != null && this != shared) {
      process.kill();
    }
  }

  private RedisProcess local() {
    if (process == null) {
      throw new IllegalStateException(url + " is not a process of this test");
    }
    return process;
  }
}
