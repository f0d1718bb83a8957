package dev.idempotency.gateway.fingerprint;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a route says about its fingerprints.
 *
 * @param headers names of the request headers that count, compared without regard to case; their
 *     order says nothing
 * @param ignore JSON pointers (RFC 6901) to the members and elements that do not count; they have
 *     no effect on a body that has no canonical form
 * @param only JSON pointers to the members and elements that count alone; empty: all. They have no
 *     effect on a body that is no JSON or has nothing that they lead to
 * @param query names of the query's parameters that count; null: the whole query as it came
 * @param rawBody whether a body counts as the bytes that came, whatever its media type and coding;
 *     nothing can be ignored or chosen then
 * @param secrets keys of an HMAC, each at least {@link #SHORTEST_SECRET} bytes: the first makes
 *     fingerprints, all are recognised, and so are fingerprints made without a secret. Empty for a
 *     plain hash; gateways that share a store need the same
 * @param version the algorithm that makes fingerprints, 1 or 2; both are recognised
 * @param decodedLimit most bytes of a body whose content coding is undone
 */
public record FingerprintRule(
    List<String> headers,
    List<String> ignore,
    List<String> only,
    @Nullable List<String> query,
    boolean rawBody,
    List<byte[]> secrets,
    int version,
    long decodedLimit) {

  /** Least number of bytes of a secret. */
  public static final int SHORTEST_SECRET = 16;

  /** Default of {@link #decodedLimit}: 1 MiB, as of a request's body. */
  public static final long DECODED_LIMIT = 1 << 20;

  /** Nothing beyond the request itself, without a secret. */
  public static final FingerprintRule DEFAULT = of(List.of(), List.of());

  /** Throws {@link IllegalArgumentException} where a value is out of its range. */
  public FingerprintRule {
    headers = headers.stream().map(FingerprintRule::checkedName).distinct().sorted().toList();
    ignore = List.copyOf(ignore);
    only = List.copyOf(only);
    query = query == null ? null : query.stream().distinct().sorted().toList();
    secrets = secrets.stream().map(byte[]::clone).toList();
    ignore.forEach(PointerTree::check);
    only.forEach(PointerTree::check);
    checkRaw(rawBody, "ignore", ignore);
    checkRaw(rawBody, "only", only);
    checkApart(only, ignore);
    secrets.forEach(FingerprintRule::checkSecret);
    checkNumbers(version, decodedLimit);
    if (version == VersionOne.NUMBER && (!only.isEmpty() || query != null)) {
      throw new IllegalArgumentException(
          "version 1 with only or query (expected: version 2, as 1 knows neither)");
    }
  }

  /**
   * A rule of today's version that chooses nothing.
   *
   * @param secret the only one, or null for none
   */
  public FingerprintRule(
      List<String> headers, List<String> ignore, boolean rawBody, byte @Nullable [] secret) {
    this(
        headers,
        ignore,
        List.of(),
        null,
        rawBody,
        secret == null ? List.of() : List.of(secret),
        RequestFingerprinter.VERSION,
        DECODED_LIMIT);
  }

  /** A rule without a secret. */
  public static FingerprintRule of(List<String> headers, List<String> ignore) {
    return new FingerprintRule(headers, ignore, false, null);
  }

  private static String checkedName(String name) {
    if (!name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
      throw new IllegalArgumentException(
          "header \"" + name + "\" (expected: a field name, RFC 9110 §5.1)");
    }
    return name.toLowerCase(Locale.ROOT);
  }

  private static void checkRaw(boolean rawBody, String option, List<String> pointers) {
    if (rawBody && !pointers.isEmpty()) {
      throw new IllegalArgumentException(
          option
              + " "
              + pointers
              + " in a raw body (expected: none, as raw bodies have no members)");
    }
  }

  /** What is chosen must be able to count. */
  private static void checkApart(List<String> only, List<String> ignore) {
    for (String chosen : only) {
      for (String ignored : ignore) {
        if (PointerTree.isWithin(chosen, ignored)) {
          throw new IllegalArgumentException(
              "only " + chosen + " is in what ignore " + ignored + " leaves out (expected: one)");
        }
      }
    }
  }

  private static void checkSecret(byte[] secret) {
    if (secret.length < SHORTEST_SECRET) {
      throw new IllegalArgumentException(
          "secret of " + secret.length + " bytes (expected: at least " + SHORTEST_SECRET + ")");
    }
  }

  private static void checkNumbers(int version, long decodedLimit) {
    if (version != VersionOne.NUMBER && version != VersionTwo.NUMBER) {
      throw new IllegalArgumentException("version " + version + " (expected: 1 or 2)");
    }
    if (decodedLimit < 0) {
      throw new IllegalArgumentException("decoded limit " + decodedLimit + " (expected: >= 0)");
    }
  }

  /** The same with these pointers to what alone counts. */
  public FingerprintRule choosing(List<String> pointers) {
    return new FingerprintRule(
        headers, ignore, pointers, query, rawBody, secrets, version, decodedLimit);
  }

  /** The same where only these parameters of the query count. */
  public FingerprintRule counting(@Nullable List<String> parameters) {
    return new FingerprintRule(
        headers, ignore, only, parameters, rawBody, secrets, version, decodedLimit);
  }

  /** The same with these secrets. */
  public FingerprintRule keyed(List<byte[]> others) {
    return new FingerprintRule(
        headers, ignore, only, query, rawBody, others, version, decodedLimit);
  }

  /** The same made by that version. */
  public FingerprintRule by(int other) {
    return new FingerprintRule(headers, ignore, only, query, rawBody, secrets, other, decodedLimit);
  }

  /** The same with that limit of decoded bodies. */
  public FingerprintRule within(long bytes) {
    return new FingerprintRule(headers, ignore, only, query, rawBody, secrets, version, bytes);
  }

  /** Copies of the secrets. */
  @Override
  public List<byte[]> secrets() {
    return secrets.stream().map(byte[]::clone).toList();
  }

  /** Without the secrets. */
  @Override
  public String toString() {
    return "FingerprintRule[headers="
        + headers
        + ", ignore="
        + ignore
        + (only.isEmpty() ? "" : ", only=" + only)
        + (query == null ? "" : ", query=" + query)
        + (rawBody ? ", raw" : "")
        + ", version "
        + version
        + (secrets.isEmpty() ? ", plain]" : ", keyed]");
  }
}
