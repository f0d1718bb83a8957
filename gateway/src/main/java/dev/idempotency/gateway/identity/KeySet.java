package dev.idempotency.gateway.identity;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a JSON Web Key Set (RFC 7517) that signatures can be verified with. Symmetric keys,
 * keys for encryption, weak ones and those of kinds that are not known here are not among them, so
 * that no token can choose one.
 */
final class KeySet {

  /** Shorter RSA keys are not to be used (RFC 7518 §3.3). */
  private static final int LEAST_RSA_BITS = 2048;

  /** A token that names no key is tried with so many. */
  private static final int MOST_UNNAMED = 8;

  private final List<Key> keys;

  private KeySet(List<Key> keys) {
    this.keys = List.copyOf(keys);
  }

  private record Key(@Nullable String id, Set<JWSAlgorithm> algorithms, JWSVerifier verifier) {}

  /**
   * Reads a set.
   *
   * @param algorithms the only ones that count
   * @throws ParseException where it is no set, or has no key of use
   */
  static KeySet read(byte[] bytes, Set<JWSAlgorithm> algorithms) throws ParseException {
    Map<String, Object> set = JSONObjectUtils.parse(new String(bytes, StandardCharsets.UTF_8));
    Map<String, Object>[] members = JSONObjectUtils.getJSONObjectArray(set, "keys");
    List<Key> keys = new ArrayList<>();
    for (Map<String, Object> member :
        members == null ? List.<Map<String, Object>>of() : List.of(members)) {
      Key key = key(member, algorithms);
      if (key != null) {
        keys.add(key);
      }
    }
    if (keys.isEmpty()) {
      throw new ParseException("it has no public key for " + algorithms, 0);
    }
    return new KeySet(keys);
  }

  /** One key of no use does not spoil the others. */
  private static @Nullable Key key(Map<String, Object> member, Set<JWSAlgorithm> pinned) {
    try {
      JWK jwk = JWK.parse(member);
      JWSVerifier verifier = isForSignatures(jwk) ? verifier(jwk) : null;
      if (verifier == null) {
        return null;
      }
      Set<JWSAlgorithm> usable = new HashSet<>(verifier.supportedJWSAlgorithms());
      usable.retainAll(pinned);
      if (jwk.getAlgorithm() != null) {
        usable.removeIf(algorithm -> !algorithm.getName().equals(jwk.getAlgorithm().getName()));
      }
      return usable.isEmpty() ? null : new Key(jwk.getKeyID(), Set.copyOf(usable), verifier);
    } catch (ParseException | JOSEException | RuntimeException e) {
      return null;
    }
  }

  private static boolean isForSignatures(JWK jwk) {
    boolean use = jwk.getKeyUse() == null || jwk.getKeyUse().equals(KeyUse.SIGNATURE);
    Set<KeyOperation> operations = jwk.getKeyOperations();
    return use && (operations == null || operations.contains(KeyOperation.VERIFY));
  }

  private static @Nullable JWSVerifier verifier(JWK jwk) throws JOSEException {
    if (jwk instanceof RSAKey rsa) {
      return rsa.size() < LEAST_RSA_BITS ? null : new RSASSAVerifier(rsa.toRSAPublicKey());
    }
    if (jwk instanceof OctetKeyPair pair) {
      return Curve.Ed25519.equals(pair.getCurve()) ? Ed25519Verifier.of(pair) : null;
    }
    return jwk instanceof ECKey ec ? new ECDSAVerifier(ec.toECPublicKey()) : null;
  }

  /**
   * The keys that a token may be signed with.
   *
   * @param id as the token names it; null where it names none
   */
  List<JWSVerifier> of(@Nullable String id, JWSAlgorithm algorithm) {
    return keys.stream()
        .filter(key -> id == null || id.equals(key.id))
        .filter(key -> key.algorithms.contains(algorithm))
        .limit(MOST_UNNAMED)
        .map(Key::verifier)
        .toList();
  }
}
