package dev.idempotency.gateway.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code gateway operations}: looks at operations and resolves them. Blocks; never throws. */
public final class OperationsCommand {

  private static final int LARGEST_PAGE = 1_000;
  private static final int MOST_LISTED = 1_000_000;
  private static final String DEFAULT_LIMIT = "100";

  private final Map<String, String> environment;
  private final StandardInput input;
  private final PrintStream out;
  private final PrintStream err;

  /**
   * @param environment the variables, of which one may hold the token
   * @param in where values are read that are given as {@code -}
   */
  public OperationsCommand(
      Map<String, String> environment, InputStream in, PrintStream out, PrintStream err) {
    this.environment = environment;
    this.input = new StandardInput(in);
    this.out = out;
    this.err = err;
  }

  /**
   * Does what the words say.
   *
   * @param words those behind {@code operations}
   * @return the exit code: 0 done, 1 refused, not found or not reached, 2 said wrongly
   */
  public int run(List<String> words, String version) {
    try {
      CommandLine line = Words.create(version);
      ParseResult result = innermost(parse(line, words));
      if (result.isUsageHelpRequested()) {
        out.print(result.commandSpec().commandLine().getUsageMessage(CommandLine.Help.Ansi.OFF));
      } else if (result.isVersionHelpRequested()) {
        out.println(result.commandSpec().version()[0]);
      } else {
        follow(new Given(result));
      }
      out.flush();
      return 0;
    } catch (RefusedException e) {
      err.println("gateway operations: " + e.reason());
      return e.code();
    }
  }

  private static ParseResult innermost(ParseResult result) {
    return result.hasSubcommand() ? innermost(result.subcommand()) : result;
  }

  private static ParseResult parse(CommandLine line, List<String> words) throws RefusedException {
    try {
      return line.parseArgs(words.toArray(new String[0]));
    } catch (UnmatchedArgumentException e) {
      throw RefusedException.usage(unknown(e.getUnmatched()));
    } catch (ParameterException e) {
      throw RefusedException.usage(misused(e) + " (--help lists what there is)");
    }
  }

  /** Not its own message, which may repeat values. */
  private static String misused(ParameterException e) {
    if (e instanceof MissingParameterException missing && !missing.getMissing().isEmpty()) {
      return name(missing.getMissing().get(0)) + ": without its value";
    }
    if (e instanceof OverwrittenOptionException twice) {
      return name(twice.getOverwritten()) + ": given twice";
    }
    return e.getArgSpec() == null ? "not understood" : name(e.getArgSpec()) + ": not understood";
  }

  private static String name(ArgSpec argument) {
    return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
  }

  /** Names options; not what may be the value of one, such as a key. */
  private static String unknown(List<String> unmatched) {
    String word = unmatched.isEmpty() ? "" : unmatched.get(0);
    int end = word.indexOf('=');
    String name = end < 0 ? word : word.substring(0, end);
    return (name.matches("--[a-z-]+|[a-z]+") ? name + ": unknown" : "a word too many")
        + " (--help lists what there is)";
  }

  private void follow(Given given) throws RefusedException {
    Questions questions = new Questions(given, input, System.getProperty("user.name", ""));
    switch (given.command()) {
      case "list" -> list(given, questions);
      case "find" -> found(given, ask(given, questions.find()));
      case "show" -> print(given, ask(given, questions.show()));
      case "complete", "release", "extend" -> {
        JsonNode answer = ask(given, questions.resolve());
        out.print(given.has(Words.JSON) ? json(answer) : Report.done(answer));
      }
      default ->
          throw RefusedException.usage(
              "name what to do: list, find, show, complete, release or extend (--help tells more)");
    }
  }

  private void list(Given given, Questions questions) throws RefusedException {
    long limit =
        given.has(Words.LIMIT)
            ? given.number(Words.LIMIT, 1, MOST_LISTED)
            : Long.parseLong(DEFAULT_LIMIT);
    AdminApi api = api(given);
    ArrayNode all = JsonNodeFactory.instance.arrayNode();
    String cursor = "";
    do {
      JsonNode page = api.ask(questions.list(cursor, Math.min(LARGEST_PAGE, limit - all.size())));
      page.path("operations").forEach(all::add);
      cursor = page.path("next").asText("");
    } while (!cursor.isEmpty() && all.size() < limit);
    if (given.has(Words.JSON)) {
      out.print(
          json(JsonNodeFactory.instance.objectNode().put("next", cursor).set("operations", all)));
      return;
    }
    out.print(all.isEmpty() ? "" : Report.table(all));
    if (!cursor.isEmpty()) {
      err.println("There may be more: raise --limit.");
    } else if (all.isEmpty()) {
      err.println("There are none.");
    }
  }

  /** One by key; any number by trace. */
  private void found(Given given, JsonNode answer) throws RefusedException {
    if (!answer.has("operations")) {
      print(given, answer);
      return;
    }
    boolean partial = !answer.path("complete").asBoolean(true);
    if (answer.get("operations").isEmpty()) {
      throw RefusedException.refused(
          (partial
                  ? "among the " + answer.path("searched").asLong() + " longest overdue operations"
                  : "among the operations that are not finished")
              + " none has that trace (finished ones are found by --route, --scope and --key)");
    }
    out.print(given.has(Words.JSON) ? json(answer) : Report.table(answer.get("operations")));
    if (partial) {
      err.println("Only the longest overdue operations were searched: there may be more.");
    }
  }

  private void print(Given given, JsonNode operation) {
    out.print(given.has(Words.JSON) ? json(operation) : Report.operation(operation));
  }

  /** Only ASCII, in which no control is left. */
  private static String json(JsonNode node) {
    StringBuilder ascii = new StringBuilder();
    node.toString()
        .chars()
        .forEach(
            c -> {
              if (c < 0x7f) {
                ascii.append((char) c);
              } else {
                ascii.append(String.format("\\u%04x", c));
              }
            });
    return ascii.append('\n').toString();
  }

  private JsonNode ask(Given given, Question question) throws RefusedException {
    return api(given).ask(question);
  }

  private AdminApi api(Given given) throws RefusedException {
    String url = given.text(Words.ADMIN, Words.DEFAULT_ADMIN);
    return AdminApi.at(url, token(given.text(Words.TOKEN_FILE)));
  }

  private String token(@Nullable String file) throws RefusedException {
    String token = file == null ? environment.getOrDefault(Words.TOKEN_VARIABLE, "") : read(file);
    if (token.isBlank()) {
      throw RefusedException.usage(
          "no token: put the operators' token into the variable "
              + Words.TOKEN_VARIABLE
              + " or name its file with --token-file");
    }
    if (!token.strip().matches("[!-~]+")) {
      throw RefusedException.usage("the token has other characters than visible ASCII");
    }
    return token.strip();
  }

  private static String read(String file) throws RefusedException {
    try {
      return Files.readString(Path.of(file));
    } catch (IOException | InvalidPathException e) {
      throw RefusedException.refused(
          "--token-file: " + Terminal.plain(file) + " can't be read (is it there, and a text?)");
    }
  }
}
