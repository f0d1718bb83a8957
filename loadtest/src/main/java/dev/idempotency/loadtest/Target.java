package dev.idempotency.loadtest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends requests to what is tested and reduces the answers to what the checks need. */
final class Target {

  private static final JsonFactory JSON = new JsonFactory();

  private final HttpClient client;
  private final Settings settings;

  Target(HttpClient client, Settings settings) {
    this.client = client;
    this.settings = settings;
  }

  /** Posts one request; the future never fails. */
  CompletableFuture<Answer> post(String key, String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(settings.target())
            .timeout(settings.timeout())
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key)
            .POST(BodyPublishers.ofString(body));
    for (int i = 0; i < settings.headers().size(); i += 2) {
      request.header(settings.headers().get(i), settings.headers().get(i + 1));
    }
    return client
        .sendAsync(request.build(), BodyHandlers.ofByteArray())
        .handle((response, failure) -> failure == null ? answer(response) : none(failure));
  }

  static Answer none(Throwable failure) {
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    return new Answer.None(cause.toString());
  }

  static Answer answer(HttpResponse<byte[]> response) {
    HttpHeaders headers = response.headers();
    return new Answer.Response(
        response.statusCode(),
        headers.firstValue("Idempotent-Replayed").filter("true"::equals).isPresent(),
        headers.firstValue("Retry-After").isPresent(),
        problem(headers.firstValue("Content-Type").orElse(""), response.body()),
        Answer.digest(response.body()));
  }

  /** The last segment of a problem document's type (RFC 9457 §3.1.1). */
  static @Nullable String problem(String mediaType, byte[] body) {
    if (!mediaType.startsWith("application/problem+json")) {
      return null;
    }
    try (JsonParser parser = JSON.createParser(body)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        if (parser.nextToken() == JsonToken.VALUE_STRING && "type".equals(name)) {
          String type = parser.getText();
          return type.substring(Math.max(type.lastIndexOf('#'), type.lastIndexOf('/')) + 1);
        }
        parser.skipChildren();
      }
      return null;
    } catch (IOException e) {
      // Not the JSON it says it is: no problem that anybody could recognise.
      return null;
    }
  }
}
