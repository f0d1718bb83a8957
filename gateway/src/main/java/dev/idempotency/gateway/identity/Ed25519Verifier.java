package dev.idempotency.gateway.identity;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.jca.JCAContext;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.util.Base64URL;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.EdECPoint;
import java.security.spec.EdECPublicKeySpec;
import java.security.spec.NamedParameterSpec;
import java.util.Set;

/** Signatures by Ed25519 (RFC 8037), with what the platform has. */
final class Ed25519Verifier implements JWSVerifier {

  private static final int LENGTH = 32;

  private final PublicKey key;
  private final JCAContext providers = new JCAContext();

  private Ed25519Verifier(PublicKey key) {
    this.key = key;
  }

  static Ed25519Verifier of(OctetKeyPair pair) throws JOSEException {
    byte[] little = pair.getDecodedX();
    if (little.length != LENGTH) {
      throw new JOSEException("an Ed25519 key has " + LENGTH + " bytes");
    }
    // y in little-endian; the highest bit is the sign of x (RFC 8032 §5.1.2).
    byte[] big = new byte[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      big[i] = little[LENGTH - 1 - i];
    }
    boolean odd = (big[0] & 0x80) != 0;
    big[0] &= 0x7f;
    try {
      EdECPoint point = new EdECPoint(odd, new BigInteger(1, big));
      return new Ed25519Verifier(
          KeyFactory.getInstance("Ed25519")
              .generatePublic(new EdECPublicKeySpec(NamedParameterSpec.ED25519, point)));
    } catch (GeneralSecurityException e) {
      throw new JOSEException("not an Ed25519 key", e);
    }
  }

  @Override
  public boolean verify(JWSHeader header, byte[] input, Base64URL signature) throws JOSEException {
    try {
      Signature check = Signature.getInstance("Ed25519");
      check.initVerify(key);
      check.update(input);
      return check.verify(signature.decode());
    } catch (GeneralSecurityException e) {
      throw new JOSEException("not a signature", e);
    }
  }

  @Override
  public Set<JWSAlgorithm> supportedJWSAlgorithms() {
    return Set.of(JWSAlgorithm.EdDSA);
  }

  @Override
  public JCAContext getJCAContext() {
    return providers;
  }
}
