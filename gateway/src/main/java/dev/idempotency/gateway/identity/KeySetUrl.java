package dev.idempotency.gateway.identity;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** A key set at an address. Redirects are not followed: the operator has named the place. */
final class KeySetUrl implements KeySetSource {

  /** For connecting, the head and the body together. */
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final URI url;
  private final Duration timeout;
  private final HttpClient client;
  private final ScheduledExecutorService timer;

  private KeySetUrl(URI url, Duration timeout, HttpClient client, ScheduledExecutorService timer) {
    this.url = url;
    this.timeout = timeout;
    this.client = client;
    this.timer = timer;
  }

  /**
   * @param authorities PEM file of the authorities that count; null: the JVM's
   * @throws IllegalArgumentException where that file is of no use
   */
  static KeySetUrl of(URI url, @Nullable Path authorities, ScheduledExecutorService timer) {
    return of(url, authorities, TIMEOUT, timer);
  }

  static KeySetUrl of(
      URI url, @Nullable Path authorities, Duration timeout, ScheduledExecutorService timer) {
    HttpClient.Builder client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(timeout)
            .executor(timer);
    if (authorities != null) {
      client.sslContext(trusting(authorities));
    }
    return new KeySetUrl(url, timeout, client.build(), timer);
  }

  private static SSLContext trusting(Path authorities) {
    try (InputStream in = Files.newInputStream(authorities)) {
      Collection<? extends Certificate> certificates =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (certificates.isEmpty()) {
        throw new IllegalArgumentException(authorities + " (expected: PEM certificates)");
      }
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (Certificate certificate : certificates) {
        store.setCertificateEntry("ca" + number++, certificate);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext made = SSLContext.getInstance("TLS");
      made.init(null, trust.getTrustManagers(), null);
      return made;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(authorities + " (expected: PEM certificates)", e);
    }
  }

  @Override
  public CompletableFuture<byte[]> fetch() {
    HttpRequest request =
        HttpRequest.newBuilder(url)
            .header("Accept", "application/jwk-set+json, application/json")
            .GET()
            .build();
    CompletableFuture<HttpResponse<byte[]>> answered =
        client.sendAsync(request, head -> new BoundedBody(MOST_BYTES));
    // The client's own time-out ends with the head of the answer.
    ScheduledFuture<?> late =
        timer.schedule(() -> answered.cancel(true), timeout.toMillis(), TimeUnit.MILLISECONDS);
    return answered
        .whenComplete((response, error) -> late.cancel(false))
        .thenCompose(KeySetUrl::good)
        .exceptionallyCompose(e -> CompletableFuture.failedFuture(inTime(e)));
  }

  private static Throwable inTime(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    return cause instanceof CancellationException
        ? new IOException("it did not answer in time")
        : error;
  }

  private static CompletableFuture<byte[]> good(HttpResponse<byte[]> response) {
    return response.statusCode() == 200
        ? CompletableFuture.completedFuture(response.body())
        : CompletableFuture.failedFuture(
            new IOException("it answered with status " + response.statusCode()));
  }

  /** Without user, password and query. */
  @Override
  public String place() {
    return url.getScheme()
        + "://"
        + url.getHost()
        + (url.getPort() < 0 ? "" : ":" + url.getPort())
        + url.getPath();
  }
}
