package dev.idempotency.gateway.config;

import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the command line, the environment and the file together ask for. */
public sealed interface Command {

  /** Start the gateway. */
  record Run(Configuration configuration) implements Command {}

  /**
   * Say what would be started.
   *
   * @param configuration what is valid
   * @param text all of it as YAML, secrets masked; for the standard output, with exit code 0
   */
  record Check(Configuration configuration, String text) implements Command {}

  /**
   * Start the demo's upstream and, in front of it, a gateway.
   *
   * @param listen where the gateway listens
   * @param admin where its metrics, health and operations are
   * @param store where its records are
   * @param upstreamListen where the demo's upstream listens
   * @param upstreamOnly whether there is no gateway
   * @param orders the database of the upstream's orders, may hold a password; null: in memory
   */
  record Demo(
      HostAndPort listen,
      HostAndPort admin,
      Configuration.Store store,
      HostAndPort upstreamListen,
      boolean upstreamOnly,
      @Nullable URI orders)
      implements Command {

    /**
     * The gateway's configuration once the upstream listens.
     *
     * @param upstream where it really listens, its port chosen
     */
    public Configuration gateway(HostAndPort upstream) {
      return Defaults.of(List.of(UpstreamUrl.clear(upstream)), false)
          .with(List.of(Listener.clear(listen)), admin, store);
    }

    /** Without the database, whose URL may hold a password. */
    @Override
    public String toString() {
      return "Demo[" + listen + ", " + admin + ", " + store + ", " + upstreamListen + "]";
    }
  }

  /**
   * Ask a running gateway about its operations.
   *
   * @param words what stands behind {@code operations}, not looked at here
   */
  record Operations(List<String> words) implements Command {

    /** Without the words, among which a client's key may be. */
    @Override
    public String toString() {
      return "Operations";
    }
  }

  /**
   * Print a text and end.
   *
   * @param code 0 where that was asked for (the text is for the standard output), 1 where the file
   *     is wrong, 2 where the command line is (the text is for the standard error)
   */
  record Exit(int code, String text) implements Command {}

  /**
   * Reads everything that the gateway is told. Blocks for reading the file; never throws.
   *
   * @param arguments the words of the command line
   * @param environment the variables of the environment
   * @param version what {@code --version} says
   */
  static Command parse(List<String> arguments, Map<String, String> environment, String version) {
    return new CommandParser(environment, version).parse(arguments);
  }
}
