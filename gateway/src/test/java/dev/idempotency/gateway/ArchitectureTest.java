package dev.idempotency.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The code keeps the laws of the house, and each law notices when it is broken. */
class ArchitectureTest {

  private static final String ROOT = "dev.idempotency.gateway";
  private static final String PLANTED_ROOT = ROOT + ".testing.planted";

  private static final JavaClasses CODE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);
  private static final JavaClasses PLANTED = new ClassFileImporter().importPackages(PLANTED_ROOT);
  private static final Map<String, ArchRule> PLANTED_LAWS =
      new ArchitectureLaws(PLANTED_ROOT).all();

  static Stream<Arguments> laws() {
    return new ArchitectureLaws(ROOT)
        .all().entrySet().stream().map(law -> Arguments.of(law.getKey(), law.getValue()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("laws")
  void codeKeepsTheLaw(String name, ArchRule law) {
    assertThat(violations(law.evaluate(CODE))).as(name).isEmpty();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(
      textBlock =
          """
          http knows the language only, KnowsLogging
          idempotency knows http only, KnowsExchange
          exchange knows http and idempotency only, KnowsNetty
          transport knows http and the network library only, KnowsExchange
          server knows no sibling, KnowsUpstream
          upstream knows no sibling, KnowsServer
          store.memory knows no sibling, KnowsRedis
          transport is for the network edges, KnowsTransport
          Lettuce lives in store.redis, Blocks
          Caffeine lives in store.memory and identity, KnowsCaffeine
          SQL lives in store.postgres and the demo that shares its database, KnowsSql
          'the driver, the pool and the migrations live in store.postgres', KnowsSql
          metrics and log libraries live in operations, KnowsMicrometer
          nothing knows the root, KnowsRoot
          no cycles, KnowsUpstream
          the time of day decides nothing between gateways, ReadsTheClock
          names say something, OptionManager
          nothing blocks, Blocks.join(
          nothing blocks, Blocks.get(
          nothing blocks, Blocks.sync(
          nothing blocks, Blocks.await(
          nothing blocks, Blocks.sleep(
          nothing blocks, Blocks.take(
          nothing blocks, Blocks.lettuce(
          nothing blocks, Blocks.reference(
          """)
  void plantedViolationIsNoticed(String name, String culprit) {
    ArchRule law = Objects.requireNonNull(PLANTED_LAWS.get(name), name);
    assertThat(violations(law.evaluate(PLANTED))).as(name).contains(culprit);
  }

  @Test
  void importedCodeHasTheCentre() {
    assertThat(CODE.contain(ROOT + ".exchange.Exchanges")).isTrue();
  }

  private static String violations(EvaluationResult result) {
    return String.join("\n", result.getFailureReport().getDetails());
  }
}
