package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.Admission.Admitted;
import dev.idempotency.gateway.exchange.Admission.Refused;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ProblemDetails;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Who calls, by each kind of part that a scope can have. */
class IdentityReaderTest {

  private static final Peer STRANGER = new Peer("192.0.2.1", "https", "1.1", false, null);
  private static final Peer PROXY = new Peer("10.0.0.1", "https", "1.1", true, null);
  private static final ScopePart USER = new ScopePart.BasicUser();
  private static final ScopePart SUB = new ScopePart.TokenClaim("sub");

  private static Admission read(ScopePart part, String... fields) {
    // Nobody but a proxy, or a service that was asked, has checked a password.
    boolean vouched = part instanceof ScopePart.BasicUser;
    return read(part, vouched ? PROXY : STRANGER, vouched, fields);
  }

  private static Admission read(ScopePart part, Peer peer, boolean proxied, String... fields) {
    return new IdentityReader(Headers.of(fields), peer, proxied, null, null).read(List.of(part));
  }

  private static Admission claim(Map<String, String> claims) {
    return new IdentityReader(new Headers(), STRANGER, false, null, claims::get).read(List.of(SUB));
  }

  private static Admission authorized(@Nullable Headers answered) {
    return new IdentityReader(new Headers(), STRANGER, false, answered, null)
        .read(List.of(new ScopePart.Authorized("X-User")));
  }

  private static @Nullable String identity(Admission admission) {
    List<@Nullable String> parts = ((Admitted) admission).caller().identity();
    assertThat(parts).hasSize(1);
    return parts.get(0);
  }

  private static ProblemDetails refused(Admission admission, Result result, int status) {
    Refused refused = (Refused) admission;
    assertThat(refused.result()).isEqualTo(result);
    assertThat(refused.problem().status()).isEqualTo(status);
    if (status == 401) {
      assertThat(refused.problem().more().get("WWW-Authenticate")).contains(" realm=\"");
    }
    return refused.problem();
  }

  private static String basic(String credentials) {
    byte[] bytes = credentials.getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(bytes);
  }

  // ---- fields

  @Test
  void headerCountsFromEverybodyWhereThereAreNoProxies() {
    ScopePart tenant = new ScopePart.Header("X-Tenant");
    assertThat(identity(read(tenant, "x-tenant", "acme"))).isEqualTo("acme");
  }

  @Test
  void headerCountsFromProxiesOnlyWhereThereAreSome() {
    ScopePart tenant = new ScopePart.Header("X-Tenant");
    ProblemDetails problem =
        refused(read(tenant, STRANGER, true, "X-Tenant", "acme"), Result.IDENTITY_MISSING, 401);
    assertThat(problem.detail()).contains("X-Tenant").contains("only from trusted proxies");
    assertThat(problem.detail()).doesNotContain("acme");
    assertThat(identity(read(tenant, PROXY, true, "X-Tenant", "acme"))).isEqualTo("acme");
  }

  @Test
  void credentialIsItsOwnProofFromWhomeverItComes() {
    ScopePart key = new ScopePart.Credential("X-Api-Key");
    assertThat(identity(read(key, STRANGER, true, "X-Api-Key", "s"))).isEqualTo("s");
    refused(read(key, "X-Other", "s"), Result.IDENTITY_MISSING, 401);
    refused(read(key, "X-Api-Key", " "), Result.IDENTITY_MISSING, 401);
    refused(read(key, "X-Api-Key", "a", "X-Api-Key", "a"), Result.BAD_REQUEST, 400);
  }

  @ParameterizedTest
  @CsvSource({
    "bearer x, Bearer x",
    "BEARER x, Bearer x",
    "Bearer x, Bearer x",
    "Bearer X, Bearer X",
    "basic YTpi, Basic YTpi",
    "dpop x, DPoP x",
    "Custom x, Custom x",
    "custom x, custom x",
    "bearer, bearer",
    "bearerx y, bearerx y",
  })
  void schemeOfAuthorizationComparesWithoutRegardToCase(String sent, String counted) {
    assertThat(identity(read(new ScopePart.Credential("authorization"), "Authorization", sent)))
        .isEqualTo(counted);
    Admission byDefault =
        new IdentityReader(Headers.of("Authorization", sent), STRANGER, false, null, null)
            .read(List.of());
    assertThat(identity(byDefault)).isEqualTo(counted);
  }

  @Test
  void schemeIsLeftAsItIsInAnotherField() {
    ScopePart key = new ScopePart.Credential("X-Api-Key");
    assertThat(identity(read(key, "X-Api-Key", "bearer x"))).isEqualTo("bearer x");
  }

  // ---- Basic

  static Stream<Arguments> users() {
    return Stream.of(
        Arguments.of(basic("a:b"), "a"),
        Arguments.of(basic("a:"), "a"),
        Arguments.of(basic("a:b:c"), "a"),
        Arguments.of(basic("a b:c"), "a b"),
        Arguments.of(basic("\u00e9\u20ac:p"), "\u00e9\u20ac"),
        Arguments.of("bAsIc " + basic("a:b").substring(6), "a"),
        Arguments.of("Basic   " + basic("a:b").substring(6), "a"),
        Arguments.of("Basic YWI6Yw==", "ab"),
        Arguments.of("Basic YWI6Yw", "ab"));
  }

  @ParameterizedTest
  @MethodSource("users")
  void userOfBasicIsWhatStandsBeforeTheFirstColon(String field, String user) {
    assertThat(identity(read(USER, "Authorization", field)))
        .isEqualTo("\0basic:" + user.length() + ":" + user);
  }

  static Stream<String> nobody() {
    return Stream.of(
        basic(""),
        basic("a"),
        basic(":secret"),
        basic("a\u0000b:c"),
        basic("a:b\nc"),
        basic("a\u007f:b"),
        basic("a\u0085:b"),
        "Basic !!!",
        "Basic YTpi=x",
        "Basic YTpiYQ=",
        // Not UTF-8.
        "Basic 6To=",
        "Basic a b");
  }

  @ParameterizedTest
  @MethodSource("nobody")
  void brokenBasicCredentialsNameNobody(String field) {
    boolean empty = field.equals(basic(""));
    ProblemDetails problem =
        refused(
            read(USER, "Authorization", field),
            empty ? Result.IDENTITY_MISSING : Result.IDENTITY_INVALID,
            401);
    assertThat(problem.more().get("WWW-Authenticate")).startsWith("Basic realm=");
    assertThat(problem.detail()).doesNotContain("secret");
  }

  @Test
  void otherSchemesAndRepeatedFieldsHaveNoUser() {
    refused(read(USER), Result.IDENTITY_MISSING, 401);
    refused(read(USER, "Authorization", "Bearer YTpi"), Result.IDENTITY_MISSING, 401);
    refused(read(USER, "Authorization", "BasicYTpi"), Result.IDENTITY_MISSING, 401);
    String one = basic("a:b");
    refused(read(USER, "Authorization", one, "authorization", one), Result.BAD_REQUEST, 400);
  }

  @Test
  void passwordThatNobodyCheckedProvesNothingWhereProxiesCheckThem() {
    refused(
        read(USER, STRANGER, true, "Authorization", basic("a:b")), Result.IDENTITY_MISSING, 401);
    assertThat(identity(read(USER, PROXY, true, "Authorization", basic("a:b")))).isNotNull();
    Admission checked =
        new IdentityReader(
                Headers.of("Authorization", basic("a:b")), STRANGER, true, new Headers(), null)
            .read(List.of(USER));
    assertThat(identity(checked)).isNotNull();
  }

  @Test
  void passwordThatTheServiceCouldNotBeAskedAboutOpensNothing() {
    refused(
        read(USER, STRANGER, false, "Authorization", basic("a:guess")),
        Result.AUTHORIZATION_UNAVAILABLE,
        503);
  }

  // ---- claims and answers

  @Test
  void equalSubjectsOfTwoIssuersAreTwoCallers() {
    String one = identity(claim(Map.of("iss", "https://a", "sub", "1")));
    assertThat(one).isNotEqualTo(identity(claim(Map.of("iss", "https://b", "sub", "1"))));
    assertThat(one).isNotEqualTo(identity(claim(Map.of("sub", "1"))));
    assertThat(identity(claim(Map.of("iss", "a:1:b", "sub", "c"))))
        .isNotEqualTo(identity(claim(Map.of("iss", "a", "sub", "1:b:1:c"))));
  }

  @Test
  void claimIsNeverTheIdentityThatAHeaderIs() {
    assertThat(identity(claim(Map.of("sub", "x")))).startsWith("\0claim:").isNotEqualTo("x");
    assertThat(identity(authorized(Headers.of("X-User", "x"))))
        .startsWith("\0authorized:")
        .isNotEqualTo(identity(claim(Map.of("sub", "x"))));
  }

  @Test
  void claimThatIsNoTextOfItsOwnIsMissing() {
    refused(claim(Map.of()), Result.IDENTITY_MISSING, 401);
    refused(claim(Map.of("sub", " ")), Result.IDENTITY_MISSING, 401);
    // As bytes, both would be a question mark.
    refused(claim(Map.of("sub", "a\ud800")), Result.IDENTITY_MISSING, 401);
    refused(claim(Map.of("sub", "\udc00a")), Result.IDENTITY_MISSING, 401);
    assertThat(identity(claim(Map.of("sub", "\ud83d\ude00")))).endsWith("\ud83d\ude00");
  }

  @Test
  void fieldOfTheAnswerMustBeThereOnce() {
    assertThat(identity(authorized(Headers.of("x-user", "u")))).endsWith("6:x-user:1:u");
    refused(authorized(new Headers()), Result.IDENTITY_MISSING, 401);
    refused(authorized(Headers.of("X-User", "")), Result.IDENTITY_MISSING, 401);
    refused(authorized(Headers.of("X-User", "a", "X-User", "b")), Result.IDENTITY_MISSING, 401);
    refused(authorized(null), Result.AUTHORIZATION_UNAVAILABLE, 503);
  }

  @Test
  void certificateMustBeShown() {
    ScopePart subject = new ScopePart.CertificateSubject();
    Peer shown = new Peer("192.0.2.1", "https", "1.1", false, "CN=a");
    assertThat(identity(read(subject, shown, true))).isEqualTo("CN=a");
    refused(read(subject), Result.IDENTITY_MISSING, 401);
  }
}
