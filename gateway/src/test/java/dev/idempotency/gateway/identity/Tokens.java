package dev.idempotency.gateway.identity;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.opts.AllowWeakRSAKey;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keys and tokens of an issuer in a test. */
public final class Tokens {

  /** Keys are dear to make: each is made once. */
  public static final RSAKey RSA = rsa("rsa-1", 2048, KeyUse.SIGNATURE);

  public static final RSAKey OTHER = rsa("rsa-2", 2048, null);

  private Tokens() {}

  static RSAKey rsa(String id, int bits, @Nullable KeyUse use) {
    try {
      return new RSAKeyGenerator(bits, true).keyID(id).keyUse(use).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  static ECKey ec(String id) {
    try {
      return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The public halves as a key set. */
  public static String set(JWK... keys) {
    return new JWKSet(List.of(keys)).toString(true);
  }

  /** Claims that are right for the next minutes, and more of them, each with a comma before it. */
  public static String claims(long now, String more) {
    return "{\"iss\":\"https://idp.test\",\"aud\":\"api\",\"sub\":\"u1\",\"exp\":"
        + (now / 1000 + 300)
        + more
        + '}';
  }

  /** A token of that key, as its issuer makes it. */
  public static String signed(RSAKey key, String claims) {
    return signed(
        new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).build(), key, claims);
  }

  static String signed(JWSHeader header, JWK key, String claims) {
    try {
      JWSSigner signer =
          key instanceof RSAKey rsa
              ? new RSASSASigner(rsa, Set.of(AllowWeakRSAKey.getInstance()))
              : new ECDSASigner(key.toECKey());
      com.nimbusds.jose.JWSObject object =
          new com.nimbusds.jose.JWSObject(header, new com.nimbusds.jose.Payload(claims));
      object.sign(signer);
      return object.serialize();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  static JWSHeader.Builder header(String id) {
    return new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(id).type(JOSEObjectType.JWT);
  }

  static String base64(String text) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
