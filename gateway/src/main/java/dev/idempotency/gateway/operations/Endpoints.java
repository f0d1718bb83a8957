package dev.idempotency.gateway.operations;

import dev.idempotency.gateway.idempotency.StoreFinding;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What is there to be asked. */
final class Endpoints {

  private static final String OPEN_METRICS = "application/openmetrics-text";

  private final GatewayMetrics metrics;
  private final Readiness readiness;
  private final OperationsApi operations;
  private final List<Endpoint> all;
  private final Map<String, Endpoint> byPath;

  Endpoints(GatewayMetrics metrics, Readiness readiness, OperationsApi operations) {
    this.operations = operations;
    this.metrics = metrics;
    this.readiness = readiness;
    this.all =
        List.of(
            Endpoint.read("/", "this list", request -> list()),
            Endpoint.read("/healthz", "200 while the process lives", request -> health()),
            Endpoint.read("/readyz", "200 if requests should come, else 503", request -> ready()),
            Endpoint.read("/metrics", "Prometheus or OpenMetrics text", this::scrape).offLoop());
    this.byPath = all.stream().collect(Collectors.toMap(Endpoint::path, Function.identity()));
  }

  @Nullable Endpoint find(String path) {
    return byPath.get(path);
  }

  OperationsApi operations() {
    return operations;
  }

  private AdminResponse list() {
    List<String> places = new ArrayList<>();
    all.forEach(endpoint -> places.add(place(endpoint.path(), endpoint.about())));
    if (operations.isOn()) {
      String about = "operations that are not finished, for those who have an operators' token";
      places.add(place(OperationsApi.PATH, about));
    }
    return AdminResponse.json(200, new JsonObject().array("endpoints", places).toString());
  }

  private static String place(String path, String about) {
    return new JsonObject().text("path", path).text("about", about).toString();
  }

  private static AdminResponse health() {
    return AdminResponse.json(200, "{\"status\":\"alive\"}");
  }

  private AdminResponse ready() {
    Readiness.State state = readiness.now();
    StringBuilder json = new StringBuilder(128);
    json.append("{\"status\":\"").append(state.ready() ? "ready" : "not-ready");
    json.append("\",\"checks\":{\"store\":\"").append(state.storeUp() ? "up" : "down");
    JsonText.quote(json.append("\",\"store_detail\":"), state.storeDetail());
    findings(json.append(",\"store_findings\":["), state.findings());
    json.append("],\"draining\":").append(state.draining()).append("}}");
    return AdminResponse.json(state.ready() ? 200 : 503, json.toString());
  }

  private static void findings(StringBuilder json, List<StoreFinding> findings) {
    for (StoreFinding finding : findings) {
      json.append(json.charAt(json.length() - 1) == '[' ? "" : ",");
      String severity = finding.severity().name().toLowerCase(Locale.ROOT);
      json.append("{\"severity\":\"").append(severity);
      JsonText.quote(json.append("\",\"code\":"), finding.code());
      JsonText.quote(json.append(",\"text\":"), finding.text()).append('}');
    }
  }

  private AdminResponse scrape(FullHttpRequest request) {
    boolean open = wantsOpenMetrics(request.headers().getAll(HttpHeaderNames.ACCEPT));
    String type = open ? Exposition.OPEN_METRICS : Exposition.TEXT;
    return new AdminResponse(200, type, metrics.scrape(open));
  }

  /** Whether the format is asked for by name; a weight of 0 refuses it (RFC 9110 §12.4.2). */
  static boolean wantsOpenMetrics(List<String> accept) {
    for (String line : accept) {
      for (String range : line.toLowerCase(Locale.ROOT).split(",", -1)) {
        String[] parts = range.trim().split("\\s*;\\s*", -1);
        if (parts[0].equals(OPEN_METRICS) && !isRefused(parts)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isRefused(String[] parts) {
    for (String part : parts) {
      if (part.matches("q=0(\\.0{0,3})?")) {
        return true;
      }
    }
    return false;
  }
}
