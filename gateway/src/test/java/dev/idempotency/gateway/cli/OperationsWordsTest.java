package dev.idempotency.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said behind {@code gateway operations}, and what is told of what was said wrongly. */
class OperationsWordsTest {

  private static final String ID = "0a".repeat(32);

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String... words) {
    PrintStream output = new PrintStream(out, true, StandardCharsets.UTF_8);
    PrintStream errors = new PrintStream(err, true, StandardCharsets.UTF_8);
    return new OperationsCommand(
            Map.of(Words.TOKEN_VARIABLE, "a-token-of-sixteen"),
            InputStream.nullInputStream(),
            output,
            errors)
        .run(List.of(words), "1.2");
  }

  private static Given given(String... words) {
    return new Given(Words.create("1.2").parseArgs(words).subcommand());
  }

  private static Questions questions(String input, String... words) {
    byte[] lines = input.getBytes(StandardCharsets.UTF_8);
    return new Questions(given(words), new StandardInput(new ByteArrayInputStream(lines)), "ann");
  }

  private static String body(Question question) throws IOException {
    return new ObjectMapper().writeValueAsString(question.body());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                                    | name what to do",
        "list --limit 0                        | --limit: expected a whole number from 1",
        "list --limit                          | --limit: without its value",
        "list --limit 1 --limit 2              | --limit: given twice",
        "list --kye=s3cr3t                     | --kye: unknown",
        "list s3cr3t/17                        | a word too many",
        "list --admin http://u:s3cr3t@h        | --admin: expected a URL without user",
        "list --admin localhost:9090           | --admin: expected a URL",
        "find                                  | find needs --route and --key, or --trace",
        "find --route r                        | --key: missing",
        "find --route r --trace s3cr3t         | --trace: given beside --route",
        "find --route r --key -                | --key: - is given, and the standard input",
        "show                                  | ID: expected 64 hexadecimal digits",
        "show 12                               | ID: expected 64 hexadecimal digits",
        "release @ --reason x                  | --attempt: missing",
        "release @ --attempt 0 --reason x      | --attempt: expected a whole number from 1",
        "release @ --attempt 1:9f3a --reason x   | --attempt: expected a whole number from 1, or the word",
        "release @ --attempt 1                 | --reason: missing",
        "release @ --attempt 1 --reason x --for 1h       | --for: unknown",
        "extend @ --attempt 1 --reason x       | --for: missing",
        "complete @ --attempt 1 --reason x     | --status: missing",
        "complete @ --attempt 1 --reason x --status 100  | --status: expected a whole number from 200",
        "complete @ --attempt 1 --reason x --status 200 --header s3cr3t | --header: expected 'NAME",
        "list --token s3cr3t                   | --token: unknown",
      })
  void whatIsSaidWronglyIsNamedInOneLineWithoutItsValue(String words, String expected) {
    String[] all = words.isEmpty() ? new String[0] : words.replace("@", ID).split(" +", -1);

    assertThat(run(all)).isEqualTo(2);

    assertThat(err.toString(StandardCharsets.UTF_8))
        .startsWith("gateway operations: ")
        .contains(expected)
        .hasLineCount(1)
        .doesNotContain("s3cr3t");
    assertThat(out.size()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"list", "find", "show", "complete", "release", "extend"})
  void helpOfEachCommandSaysWhereTheTokenComesFrom(String command) {
    assertThat(run(command, "--help")).isZero();

    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("Usage: gateway operations " + command, Words.TOKEN_VARIABLE, "--admin");
  }

  @Test
  void withoutTokenNothingIsAsked() {
    int code =
        new OperationsCommand(
                Map.of(),
                InputStream.nullInputStream(),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8))
            .run(List.of("list"), "1.2");

    assertThat(code).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains(Words.TOKEN_VARIABLE, "--token-file");
  }

  @Test
  void tokenFileThatIsNotThereIsNamed() {
    assertThat(run("list", "--token-file", "/nowhere/token")).isEqualTo(1);

    assertThat(err.toString(StandardCharsets.UTF_8)).contains("--token-file: /nowhere/token");
  }

  @Test
  void filtersOfAListAreParameters() {
    Question question =
        questions("", "list", "--route", "a+b&c", "--older", "1m", "--state", "all").list("c/1", 7);

    assertThat(question.target())
        .isEqualTo("/operations?limit=7&route=a%2Bb%26c&older=1m&state=all&cursor=c%2F1");
  }

  @Test
  void valuesGivenAsDashesAreLinesOfTheInputScopesFirst() throws Exception {
    Question question =
        questions(
                "Bearer ä\r\ntenant\nthe key",
                "find",
                "--key",
                "-",
                "--route",
                "r",
                "--scope",
                "-",
                "--scope",
                "x",
                "--scope=-")
            .find();

    assertThat(body(question))
        .isEqualTo(
            "{\"route\":\"r\",\"scope\":[\"Bearer ä\",\"x\",\"tenant\"],\"key\":\"the key\"}");
    assertThat(question).hasToString("POST /operations/find");
  }

  @Test
  void valuesAreTakenAsTheyStand() throws Exception {
    String key = "\"${sys:user.name}\"";

    assertThat(body(questions("", "find", "--route", "r", "--key", key).find()))
        .contains("\\\"${sys:user.name}\\\"");
  }

  @Test
  void completeTakesTheWholeResponse() throws Exception {
    Question question =
        questions(
                "ok\n",
                "complete",
                ID,
                "--attempt=2",
                "--reason=looked it up",
                "--status=201",
                "--header=Location: /orders/7",
                "--header=Link: <a>",
                "--header=Link: <b>",
                "--body-file=-",
                "--for=2h")
            .resolve();

    assertThat(question.target()).isEqualTo("/operations/" + ID + "/resolve");
    assertThat(body(question))
        .isEqualTo(
            "{\"attempt\":2,\"action\":\"complete\",\"reason\":\"looked it up\",\"who\":\"ann\","
                + "\"response\":{\"status\":201,\"headers\":{\"Location\":[\"/orders/7\"],"
                + "\"Link\":[\"<a>\",\"<b>\"]},\"body_base64\":\"b2sK\"},\"for\":\"2h\"}");
  }

  @Test
  void whoCanBeSomebodyElse() throws Exception {
    Question question =
        questions("", "release", ID, "--attempt=1", "--reason=x", "--who=on-call").resolve();

    assertThat(body(question)).contains("\"who\":\"on-call\"").contains("\"action\":\"release\"");
  }

  @ParameterizedTest
  @CsvSource({"800, 800ms", "5000, 5s", "725000, 12m5s", "7500000, 2h5m", "273600000, 3d4h"})
  void agesAreShort(long millis, String text) {
    assertThat(Report.duration(millis)).isEqualTo(text);
  }

  @Test
  void whatCouldSteerATerminalIsNotPrinted() {
    assertThat(Terminal.plain("a\u001b[2J\n\u202eb\u0085ü")).isEqualTo("a?[2J??b?ü");
    assertThat(Terminal.lines("a\n\tb\u001bc")).isEqualTo("a\n\tb?c");
  }
}
