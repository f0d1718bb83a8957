package dev.idempotency.gateway;

import dev.idempotency.gateway.testing.PostgresServer;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same as {@link OnBothStores}, and on PostgreSQL too, where a schema of one's own costs more
 * than a test: for what every store does in a way of its own.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest
@MethodSource("dev.idempotency.gateway.OnAllStores$Stores#all")
@interface OnAllStores {

  /** Values of {@code store:}. */
  final class Stores {

    private Stores() {}

    static Stream<String> all() {
      return Stream.concat(OnBothStores.Stores.both(), Stream.of(postgres()));
    }

    /** That server with tables of one's own. */
    static String postgres() {
      return "{ url: \"" + PostgresServer.shared().urlOfOwnSchema() + "\", timeout: 10s }";
    }
  }
}
