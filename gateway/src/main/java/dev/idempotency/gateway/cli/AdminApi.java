package dev.idempotency.gateway.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

/** The admin listener of a gateway, as seen from another process. Blocks. */
final class AdminApi {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ObjectMapper mapper = new ObjectMapper();

  // The token goes where it was meant to go: over no proxy, and after no redirection.
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .proxy(HttpClient.Builder.NO_PROXY)
          .followRedirects(HttpClient.Redirect.NEVER)
          .connectTimeout(Duration.ofSeconds(5))
          .build();

  private final String url;
  private final String token;

  private AdminApi(String url, String token) {
    this.url = url;
    this.token = token;
  }

  static AdminApi at(String text, String token) throws RefusedException {
    try {
      URI uri = URI.create(text);
      boolean rooted = uri.getPath() == null || uri.getPath().matches("/?");
      if (("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
          && uri.getHost() != null
          && uri.getUserInfo() == null
          && uri.getQuery() == null
          && uri.getFragment() == null
          && rooted) {
        return new AdminApi(uri.getScheme() + "://" + uri.getAuthority(), token);
      }
    } catch (IllegalArgumentException e) {
      // Said below.
    }
    throw RefusedException.usage(
        "--admin: expected a URL without user and path, such as " + Words.DEFAULT_ADMIN);
  }

  /**
   * The answer to what was done.
   *
   * @throws RefusedException where it was not
   */
  JsonNode ask(Question question) throws RefusedException {
    HttpResponse<byte[]> response = send(question);
    JsonNode answer = read(response.body());
    if (response.statusCode() == 200 && answer.isObject()) {
      return answer;
    }
    throw RefusedException.refused(
        Refusals.line(url, response.statusCode(), answer, question.body() != null));
  }

  private HttpResponse<byte[]> send(Question question) throws RefusedException {
    try {
      return client.send(request(question), HttpResponse.BodyHandlers.ofByteArray());
    } catch (HttpTimeoutException e) {
      throw RefusedException.refused(url + ": no answer in time" + afterwards(question));
    } catch (IOException e) {
      throw RefusedException.refused(
          url
              + ": no connection, or a broken one (does a gateway run there? --admin names its"
              + " admin listener)"
              + afterwards(question));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw RefusedException.refused("interrupted" + afterwards(question));
    }
  }

  private static String afterwards(Question question) {
    return question.target().endsWith("/resolve")
        ? "; look at the operation before you try again: it may have been resolved"
        : "";
  }

  private HttpRequest request(Question question) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + question.target()))
            .timeout(PATIENCE)
            .header("Authorization", "Bearer " + token);
    return question.body() == null
        ? request.GET().build()
        : request
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(question.body().toString()))
            .build();
  }

  private JsonNode read(byte[] body) throws RefusedException {
    try {
      return mapper.readTree(body);
    } catch (JsonProcessingException e) {
      return mapper.missingNode();
    } catch (IOException e) {
      throw RefusedException.refused(url + ": the answer can't be read");
    }
  }
}
