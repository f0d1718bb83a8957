package dev.idempotency.gateway.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes of options what the admin API is asked. */
final class Questions {

  private static final String PATH = "/operations";
  private static final Pattern ATTEMPT =
      Pattern.compile("(?<number>[1-9]\\d{0,17})(:(?<holder>[0-9a-f]{16}))?");

  private final Given given;
  private final StandardInput input;
  private final String user;

  /**
   * @param user who decides where nothing else is said; may be empty
   */
  Questions(Given given, StandardInput input, String user) {
    this.given = given;
    this.input = input;
    this.user = user;
  }

  /** One page of a list. */
  Question list(String cursor, long limit) {
    StringBuilder target = new StringBuilder(PATH).append("?limit=").append(limit);
    for (String flag : List.of(Words.ROUTE, Words.OLDER, Words.STATE)) {
      String value = given.text(flag);
      if (value != null) {
        parameter(target, flag.substring("--".length()), value);
      }
    }
    if (!cursor.isEmpty()) {
      parameter(target, "cursor", cursor);
    }
    return Question.get(target.toString());
  }

  private static void parameter(StringBuilder target, String name, String value) {
    target.append('&').append(name).append('=');
    // A plus sign means a blank in forms only.
    target.append(URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20"));
  }

  Question find() throws RefusedException {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    if (given.has(Words.TRACE)) {
      if (given.has(Words.KEY) || given.has(Words.SCOPE) || given.has(Words.ROUTE)) {
        throw RefusedException.usage(
            "--trace: given beside --route, --scope or --key (expected: one way to find)");
      }
      return Question.post(PATH + "/find", body.put("trace", given.required(Words.TRACE)));
    }
    if (!given.has(Words.ROUTE)) {
      throw RefusedException.usage("find needs --route and --key, or --trace");
    }
    body.put("route", given.required(Words.ROUTE));
    String key = given.required(Words.KEY);
    ArrayNode scope = body.putArray("scope");
    for (String part : given.all(Words.SCOPE)) {
      scope.add(input.value(Words.SCOPE, part));
    }
    if (given.has(Words.ISSUER)) {
      body.put("issuer", given.required(Words.ISSUER));
    }
    return Question.post(PATH + "/find", body.put("key", input.value(Words.KEY, key)));
  }

  Question show() throws RefusedException {
    return Question.get(PATH + "/" + given.id() + (given.has(Words.BODY) ? "?body=1" : ""));
  }

  /** Complete, release or extend. */
  Question resolve() throws RefusedException {
    String id = given.id();
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    attempt(body);
    body.put("action", given.command());
    body.put("reason", given.required(Words.REASON));
    body.put("who", who());
    if (given.command().equals("complete")) {
      body.set("response", response());
    }
    if (given.command().equals("extend")) {
      body.put("for", given.required(Words.FOR));
    } else if (!given.command().equals("release") && given.has(Words.FOR)) {
      body.put("for", given.required(Words.FOR));
    }
    return Question.post(PATH + "/" + id + "/resolve", body);
  }

  /** The attempt, and behind a colon the name of its record where that is given. */
  private void attempt(ObjectNode body) throws RefusedException {
    Matcher word = ATTEMPT.matcher(given.required(Words.ATTEMPT));
    if (!word.matches()) {
      throw RefusedException.usage(
          "--attempt: expected a whole number from 1, or the word that show tells, such as"
              + " 1:0123456789abcdef");
    }
    body.put("attempt", Long.parseLong(word.group("number")));
    if (word.group("holder") != null) {
      body.put("holder", word.group("holder"));
    }
  }

  private String who() throws RefusedException {
    String who = given.text(Words.WHO, user);
    if (who.isBlank()) {
      throw RefusedException.usage("--who: missing, and the system does not tell the user's name");
    }
    return who;
  }

  private ObjectNode response() throws RefusedException {
    ObjectNode response = JsonNodeFactory.instance.objectNode();
    response.put("status", given.number(Words.STATUS, 200, 599));
    ObjectNode headers = response.putObject("headers");
    for (String field : given.all(Words.HEADER)) {
      int colon = field.indexOf(':');
      if (colon < 1) {
        throw RefusedException.usage("--header: expected 'NAME: VALUE'");
      }
      headers.withArray(field.substring(0, colon).strip()).add(field.substring(colon + 1).strip());
    }
    if (given.has(Words.BODY_FILE)) {
      response.put("body_base64", Base64.getEncoder().encodeToString(body()));
    }
    return response;
  }

  private byte[] body() throws RefusedException {
    String file = given.required(Words.BODY_FILE);
    try {
      return file.equals("-") ? input.rest() : Files.readAllBytes(Path.of(file));
    } catch (IOException | InvalidPathException e) {
      throw RefusedException.refused(
          "--body-file: " + Terminal.plain(file) + " can't be read (is it there, and a file?)");
    }
  }
}
