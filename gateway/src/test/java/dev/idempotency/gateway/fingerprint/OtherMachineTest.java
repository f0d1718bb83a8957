package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.RequestHead;
import dev.idempotency.gateway.idempotency.Fingerprinter;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Gateways that share a store may run on machines that are set up in other ways. */
class OtherMachineTest {

  @Test
  void aMachineWithAnotherLocaleAndCharsetMakesTheSameFingerprints() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Duser.language=tr",
                "-Duser.country=TR",
                "-Dfile.encoding=ISO-8859-9",
                "-classpath",
                System.getProperty("java.class.path"),
                Printer.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), UTF_8);

    assertThat(process.waitFor()).isZero();
    assertThat(printed.lines().findFirst()).hasValue("tr_TR: I is small 131");
    assertThat(printed.lines().skip(1).toList()).isEqualTo(fingerprints());
  }

  private static List<String> fingerprints() {
    return List.of(
        of("application/json", "{\"I\":\"ı\",\"i\":1.50,\"\\u0130\":\"\\u0131\",\"TITLE\":null}"),
        of("APPLICATION/PROBLEM+JSON;I=1", "{\"I\":1,\"I\":2}"),
        of("TEXT/PLAIN;CHARSET=ISO-8859-9", "İıIi"));
  }

  private static String of(String type, String body) {
    Fingerprinter fingerprinter =
        RequestFingerprinter.create(FingerprintRule.of(List.of("X-TITLE-I"), List.of("/TITLE")));
    Headers headers = Headers.of("CONTENT-TYPE", type, "x-title-i", "İ");
    RequestHead head = RequestHead.of("POST", "/ORDERS/ı?I=İ", headers);
    byte[] hash = fingerprinter.fingerprint(head, body.getBytes(UTF_8)).current().hash();
    return HexFormat.of().formatHex(hash);
  }

  /** Runs on the other machine. */
  static final class Printer {
    private Printer() {}

    public static void main(String[] arguments) {
      int lower = "I".toLowerCase(Locale.getDefault()).charAt(0);
      System.out.println(Locale.getDefault() + ": I is small " + Integer.toHexString(lower));
      fingerprints().forEach(System.out::println);
    }
  }
}
