package dev.idempotency.gateway.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyFormTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "8e03978e-40d5-43dd-bc93-6894a57f9324",
        "8E03978E-40D5-43DD-BC93-6894A57F9324",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "c232ab00-9414-11ec-b3c8-9f6bdeced846",
        "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
      })
  void uuidOfAnyVersionVariantAndCaseIsOne(String key) {
    assertThat(KeyForm.UUID.matches(key)).isTrue();
    assertThat(KeyForm.UUID.madeAt(key)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "8e03978e40d543ddbc936894a57f9324",
        "{8e03978e-40d5-43dd-bc93-6894a57f9324}",
        "urn:uuid:8e03978e-40d5-43dd-bc93-6894a57f9324",
        "8e03978e-40d5-43dd-bc93-6894a57f932",
        "8e03978e-40d5-43dd-bc93-6894a57f93244",
        "8e03978g-40d5-43dd-bc93-6894a57f9324",
        "8e03978e_40d5-43dd-bc93-6894a57f9324",
        "8e03978e4-0d5-43dd-bc93-6894a57f9324",
        "-8e03978-40d5-43dd-bc93-6894a57f9324",
        "+e03978e-40d5-43dd-bc93-6894a57f9324",
      })
  void whatIsNoUuidIsNone(String key) {
    assertThat(KeyForm.UUID.matches(key)).isFalse();
    assertThat(KeyForm.UUID7.matches(key)).isFalse();
    assertThat(KeyForm.ULID.matches(key)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    // The example of RFC 9562 §A.6.
    "017F22E2-79B0-7CC3-98C4-DC0C0C07398F, 2022-02-22T19:22:22Z",
    "017f22e2-79b0-7cc3-b8c4-dc0c0c07398f, 2022-02-22T19:22:22Z",
    "00000000-0000-7000-8000-000000000000, 1970-01-01T00:00:00Z",
    "ffffffff-ffff-7fff-bfff-ffffffffffff, +10889-08-02T05:31:50.655Z",
  })
  void uuidOfVersionSevenSaysWhenItWasMade(String key, Instant made) {
    assertThat(KeyForm.UUID7.matches(key)).isTrue();
    assertThat(KeyForm.UUID7.madeAt(key)).isEqualTo(made);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "8e03978e-40d5-43dd-bc93-6894a57f9324", // version 4
        "1ec9414c-232a-6b00-b3c8-9f6bdeced846", // version 6
        "017f22e2-79b0-7cc3-18c4-dc0c0c07398f", // variant 0
        "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f", // variant of Microsoft
      })
  void uuidOfAnotherVersionOrVariantIsNotOfVersionSeven(String key) {
    assertThat(KeyForm.UUID.matches(key)).isTrue();
    assertThat(KeyForm.UUID7.matches(key)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    // The example of the ULID specification.
    "01ARYZ6S41TSV4RRFFQ69G5FAV, 2016-07-30T22:36:16.385Z",
    "01aryz6s41tsv4rrffq69g5fav, 2016-07-30T22:36:16.385Z",
    "00000000000000000000000000, 1970-01-01T00:00:00Z",
    "7ZZZZZZZZZZZZZZZZZZZZZZZZZ, +10889-08-02T05:31:50.655Z",
  })
  void ulidSaysWhenItWasMade(String key, Instant made) {
    assertThat(KeyForm.ULID.matches(key)).isTrue();
    assertThat(KeyForm.ULID.madeAt(key)).isEqualTo(made);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "80000000000000000000000000", // 129 bits
        "zzzzzzzzzzzzzzzzzzzzzzzzzz",
        "01ARYZ6S41TSV4RRFFQ69G5FA", // 25 digits
        "01ARYZ6S41TSV4RRFFQ69G5FAVV",
        "01ARYZ6S41TSV4RRFFQ69G5FAI",
        "01ARYZ6S41TSV4RRFFQ69G5FAL",
        "01ARYZ6S41TSV4RRFFQ69G5FAO",
        "01ARYZ6S41TSV4RRFFQ69G5FAU",
        "01ARYZ6S41TSV4RRFFQ69G5FAu",
        "01ARYZ6S41TSV4RRFFQ69G5F-V",
        "-1ARYZ6S41TSV4RRFFQ69G5FAV",
      })
  void whatIsNoUlidIsNone(String key) {
    assertThat(KeyForm.ULID.matches(key)).isFalse();
  }

  @Test
  void examplesAreWhatTheyStandFor() {
    for (KeyForm form : KeyForm.values()) {
      String expected = form.expected();
      assertThat(form.matches(expected.substring(expected.lastIndexOf(' ') + 1))).isTrue();
    }
  }
}
