package dev.idempotency.gateway;

import static dev.idempotency.gateway.testing.RawClient.once;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.RawClient;
import dev.idempotency.gateway.testing.RawResponse;
import dev.idempotency.gateway.testing.ScriptedUpstream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/** Retries whose bytes are others, and reuses of a key, as clients send and see them. */
class SameRequestTest {

  private static final String FORM = "application/x-www-form-urlencoded";

  @OnBothStores
  void formIsRetriedInAnyOrderAndSpelling(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), store)) {
      assertThat(post(gateway, FORM, "amount=100&note=a+b").status()).isEqualTo(200);

      assertThat(post(gateway, FORM, "note=a%20b&amount=100").isReplay()).isTrue();
      RawResponse other = post(gateway, FORM, "amount=1000&note=a+b");
      assertThat(other.problem()).isEqualTo("key-reused");
      assertThat(other.text()).contains("The body differs.");
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(upstream.last().text()).isEqualTo("amount=100&note=a+b");
    }
  }

  @OnBothStores
  void uploadIsRetriedWithAnotherBoundary(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), store)) {
      assertThat(upload(gateway, "one", "content").status()).isEqualTo(200);

      assertThat(upload(gateway, "two", "content").isReplay()).isTrue();
      assertThat(upload(gateway, "two", "Content").text()).contains("The body differs.");
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  @OnBothStores
  void codedBodyIsRetriedWithAnotherTimeInside(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), store)) {
      byte[] first = gzip("{\"amount\":100}");
      byte[] second = gzip("{ \"amount\": 100.0 }");
      second[4] = 1; // the time of modification (RFC 1952 §2.3.1)
      assertThat(coded(gateway, first).status()).isEqualTo(200);

      assertThat(coded(gateway, second).isReplay()).isTrue();
      assertThat(coded(gateway, gzip("{\"amount\":101}")).text()).contains("The body differs.");
      assertThat(upstream.requests()).isEqualTo(1);
      assertThat(upstream.last().body()).isEqualTo(first);
    }
  }

  @OnBothStores
  void reuseIsToldByTheParts(String store) {
    try (ScriptedUpstream upstream = ScriptedUpstream.ok();
        TestGateway gateway = TestGateway.start(upstream.url(), store)) {
      assertThat(send(gateway, "POST", "/a?x=1", "text/plain", "1").status()).isEqualTo(200);

      assertThat(send(gateway, "POST", "/b?x=1", "text/plain", "1").text())
          .contains("The method or path differs.");
      assertThat(send(gateway, "PATCH", "/a?x=1", "text/plain", "1").text())
          .contains("The method or path differs.");
      assertThat(send(gateway, "POST", "/a?x=2", "text/html", "1").text())
          .contains("The query and the headers that count differ.");
      assertThat(upstream.requests()).isEqualTo(1);
    }
  }

  private static RawResponse post(TestGateway gateway, String type, String body) {
    return send(gateway, "POST", "/orders", type, body);
  }

  private static RawResponse upload(TestGateway gateway, String boundary, String content) {
    String part =
        "Content-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n\r\n" + content + "\r\n";
    String body = "--" + boundary + "\r\n" + part + "--" + boundary + "--\r\n";
    return post(gateway, "multipart/form-data; boundary=" + boundary, body);
  }

  private static RawResponse coded(TestGateway gateway, byte[] body) {
    return once(
        gateway.port(),
        RawClient.request(
            "POST", "/orders", "k", "application/json", body, "Content-Encoding: gzip"));
  }

  private static RawResponse send(
      TestGateway gateway, String method, String target, String type, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.ISO_8859_1);
    return once(gateway.port(), RawClient.request(method, target, "k", type, bytes));
  }

  private static byte[] gzip(String content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(content.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
