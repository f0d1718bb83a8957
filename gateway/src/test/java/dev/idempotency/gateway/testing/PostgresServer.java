package dev.idempotency.gateway.testing;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * A real PostgreSQL for tests; a machine without one still gets one, so that no test is skipped.
 *
 * <p>{@link #shared()} takes, in this order: the server that the environment variable {@code
 * POSTGRES_URL} names ({@code postgresql://user:password@host:port/database}, of an account that
 * may create schemas); a container, where a container engine answers; the binaries among the test
 * dependencies. {@link #start} always runs a local process, because its tests stop and freeze it.
 *
 * <p>Local servers die with this JVM however it ends.
 */
public final class PostgresServer implements AutoCloseable {

  private static final Object LOCK = new Object();
  private static final AtomicInteger SCHEMAS = new AtomicInteger();
  private static PostgresServer shared;

  private final String url;
  private final PostgresProcess process;

  private PostgresServer(String url, PostgresProcess process) {
    this.url = url;
    this.process = process;
  }

  /** The server of this JVM. Others use it too: no stop, schemas of one's own. */
  public static PostgresServer shared() {
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
   * @param settings of the server, such as {@code max_connections}
   */
  public static PostgresServer start(Map<String, String> settings) {
    PostgresProcess process = PostgresProcess.start(settings);
    return new PostgresServer(
        "postgresql://postgres@127.0.0.1:" + process.port() + "/postgres", process);
  }

  private static PostgresServer findShared() {
    String named = System.getenv("POSTGRES_URL");
    if (named != null && !named.isBlank()) {
      return new PostgresServer(named, null);
    }
    String contained = ContainerEngine.answers() ? container() : null;
    return contained != null ? new PostgresServer(contained, null) : start(Map.of());
  }

  @SuppressWarnings("resource") // the engine's reaper removes it when this JVM is gone
  private static String container() {
    GenericContainer<?> container =
        new GenericContainer<>(DockerImageName.parse("postgres:17-alpine"))
            .withExposedPorts(5432)
            .withEnv("POSTGRES_HOST_AUTH_METHOD", "trust");
    try {
      container.start();
      return "postgresql://postgres@"
          + container.getHost()
          + ":"
          + container.getMappedPort(5432)
          + "/postgres";
    } catch (RuntimeException e) {
      container.close();
      return null;
    }
  }

  /** Such as {@code postgresql://postgres@127.0.0.1:5432/postgres}. */
  public String url() {
    return url;
  }

  /** The same, with the tables in a schema that no other test has. */
  public String urlOfOwnSchema() {
    return url + "?schema=" + ownSchema();
  }

  /** A name that no other test has. */
  public static String ownSchema() {
    return "test_" + ProcessHandle.current().pid() + "_" + SCHEMAS.incrementAndGet();
  }

  public String host() {
    return URI.create(url).getHost();
  }

  public int port() {
    int port = URI.create(url).getPort();
    return port < 0 ? 5432 : port;
  }

  /** Ends the server at once, as a crash does; its port refuses from now on. */
  public void stop() {
    local().kill();
  }

  /** Starts again on the same port with what was committed; waits until it answers. */
  public void restart() {
    local().restart();
  }

  /** Freezes all its processes: connections stay, nothing is answered. */
  public void pause() {
    local().signal("STOP");
  }

  /** Goes on after {@link #pause}. */
  public void resume() {
    local().signal("CONT");
  }

  /** A connection of one's own. */
  public Connection connect() throws SQLException {
    URI uri = URI.create(url);
    String login = uri.getUserInfo();
    int colon = login.indexOf(':');
    return DriverManager.getConnection(
        "jdbc:postgresql://" + host() + ":" + port() + uri.getPath(),
        colon < 0 ? login : login.substring(0, colon),
        colon < 0 ? "" : login.substring(colon + 1));
  }

  /** Runs statements and gives the rows of the last one, a line each, columns with bars between. */
  public List<String> sql(String text) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      List<String> lines = new ArrayList<>();
      if (statement.execute(text)) {
        try (ResultSet row = statement.getResultSet()) {
          while (row.next()) {
            lines.add(line(row));
          }
        }
      }
      return lines;
    } catch (SQLException e) {
      throw new IllegalStateException(text, e);
    }
  }

  private static String line(ResultSet row) throws SQLException {
    StringBuilder line = new StringBuilder();
    for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
      line.append(i == 1 ? "" : "|").append(row.getString(i));
    }
    return line.toString();
  }

  /** Ends a server that {@link #start} made; leaves the shared one alone. */
  @Override
  public void close() {
    if (process != null && this != shared) {
      process.close();
    }
  }

  private PostgresProcess local() {
    if (process == null) {
      throw new IllegalStateException("not a process of this test");
    }
    return process;
  }
}
