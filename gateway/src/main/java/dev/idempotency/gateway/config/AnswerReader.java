package dev.idempotency.gateway.config;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads what of a response is stored, and who may read answers. */
final class AnswerReader {

  private final Problems problems;

  AnswerReader(Problems problems) {
    this.problems = problems;
  }

  ResponseCopy copy(Section response) {
    ResponseCopy defaults = Defaults.COPY;
    Set<String> keep =
        response.list("keep", Formats.HEADER).map(Formats::smallLetters).orElse(defaults.keep());
    Set<String> drop =
        response.list("drop", Formats.HEADER).map(Formats::smallLetters).orElse(defaults.drop());
    List<String> both = new ArrayList<>(drop);
    both.retainAll(keep);
    if (!both.isEmpty()) {
      problems.add(response.path("drop"), both.get(0), "a field that keep does not name");
    }
    return new ResponseCopy(
        keep,
        drop,
        response.list("redact", Formats.POINTER).orElse(defaults.redact()),
        response.get("expires", Formats.TRUTH, defaults.expires()));
  }

  @Nullable Cors cors(Section route) {
    try (Section cors = route.section("cors")) {
      if (!route.has("cors")) {
        return null;
      }
      if (cors.isMapping() && !cors.has("origins")) {
        problems.add(
            cors.path("origins"),
            "missing",
            "a list of at least one " + IdentityFormats.ORIGIN.expected());
      }
      Set<String> origins =
          new LinkedHashSet<>(cors.list("origins", IdentityFormats.ORIGIN).orElse(List.of()));
      boolean credentials = cors.get("credentials", Formats.TRUTH, false);
      if (credentials && origins.contains(Cors.ANY)) {
        problems.add(
            cors.path("credentials"),
            "true beside the origin *",
            "the origins that may send credentials, as browsers refuse them for *");
      }
      if (origins.size() > 1 && origins.contains(Cors.ANY)) {
        problems.add(cors.path("origins"), "* beside others", "* alone, or origins without *");
      }
      return new Cors(origins, credentials);
    }
  }
}
