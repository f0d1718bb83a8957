package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Certificates;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The example of an edge with its files, and what the program says of a file of no use. */
class EdgeFilesIT {

  @TempDir private Path folder;
  private Path tls;
  private Path edge;

  @BeforeEach
  void write() throws IOException {
    tls = Files.createDirectory(folder.resolve("tls"));
    edge = Files.copy(Path.of("../config/edge.yaml"), folder.resolve("edge.yaml"));
    Certificates authority = Certificates.authority("Test CA");
    pair("gateway", authority.server());
    pair("client", authority.client("CN=gateway"));
    Certificates.write(tls.resolve("clients.crt"), authority.bundle().getCertificatePEM());
    Certificates.write(tls.resolve("upstreams.crt"), authority.bundle().getCertificatePEM());
  }

  private void pair(String name, X509Bundle certificate) {
    Certificates.write(tls.resolve(name + ".key"), certificate.getPrivateKeyPEM());
    Certificates.write(tls.resolve(name + ".crt"), certificate.getCertificatePathPEM());
  }

  @Test
  void exampleOfAnEdgeIsValidBesideItsFilesAndItsEffectiveFormTooIsValid() throws IOException {
    ProgramRun check = ProgramRun.of("--config", edge.toString(), "--check");
    assertThat(check.err()).isEmpty();
    assertThat(check.code()).isZero();
    assertThat(check.out()).contains("certificate:subject").contains("body-rate: 240");

    Path effective = Files.writeString(folder.resolve("effective.yaml"), check.out());
    ProgramRun again = ProgramRun.of("--config", effective.toString(), "--check");
    assertThat(again.err()).isEmpty();
    assertThat(again.out()).isEqualTo(check.out());
  }

  @Test
  void fileThatIsNotThereIsNamedByTheCheck() throws IOException {
    Files.delete(tls.resolve("clients.crt"));
    ProgramRun check = ProgramRun.of("--config", edge.toString(), "--check");
    assertThat(check.code()).isEqualTo(1);
    assertThat(check.err()).contains("listen[1].tls.client-ca").contains("clients.crt");
  }

  @ParameterizedTest
  @CsvSource({
    "gateway.crt, listen[1]",
    "gateway.key, listen[1]",
    "clients.crt, listen[1]",
    "upstreams.crt, upstreams.orders",
    "client.crt, upstreams.orders",
    "client.key, upstreams.orders"
  })
  void fileOfNoUseEndsTheStartWithOneLineThatNamesIt(String file, String where) throws IOException {
    Path bad = Certificates.write(tls.resolve(file), "-----BEGIN NONSENSE-----\n");
    String text =
        Files.readString(edge)
            .replace("127.0.0.1:8080", "127.0.0.1:0")
            .replace("0.0.0.0:8443", "127.0.0.1:0")
            .replace("127.0.0.1:9090", "127.0.0.1:0")
            .replace("redis://redis:6379", "memory");
    Files.writeString(edge, text);
    ProgramRun run = ProgramRun.of("--config", edge.toString());
    assertThat(run.code()).isEqualTo(1);
    assertThat(run.errLines().stream().filter(line -> line.startsWith("idempotency-gateway:")))
        .singleElement()
        .asString()
        .contains(bad.getFileName().toString())
        .contains(where);
    assertThat(run.err()).doesNotContain("\tat ");
  }
}
