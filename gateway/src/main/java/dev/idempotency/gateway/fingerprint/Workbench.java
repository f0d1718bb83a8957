package dev.idempotency.gateway.fingerprint;

import java.security.MessageDigest;

/** What a thread needs to make fingerprints, for all routes. */
final class Workbench {

  private static final ThreadLocal<Workbench> OWN = ThreadLocal.withInitial(Workbench::new);

  final JsonCanonicalizer json = new JsonCanonicalizer();
  final FormPairs form = new FormPairs();
  final CanonicalText text = new CanonicalText();
  final MultipartParts multipart = new MultipartParts();
  final RequestFrame frame = new RequestFrame();
  final MessageDigest digest = HashKey.sha256();

  private Workbench() {}

  /** The calling thread's. */
  static Workbench own() {
    return OWN.get();
  }
}
