package dev.idempotency.gateway;

import dev.idempotency.gateway.testing.RedisServer;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A test that is given the value of {@code store:} and runs on each store. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest
@MethodSource("dev.idempotency.gateway.OnBothStores$Stores#both")
@interface OnBothStores {

  /** Values of {@code store:}. */
  final class Stores {

    private Stores() {}

    static Stream<String> both() {
      return Stream.of("memory", redis(RedisServer.shared()));
    }

    /** That server with names of one's own and a deadline that a busy machine keeps. */
    static String redis(RedisServer server) {
      return redis(server.url(), "10s");
    }

    static String redis(String url, String timeout) {
      return "{ url: \""
          + url
          + "\", timeout: "
          + timeout
          + ", prefix: \"life-"
          + UUID.randomUUID()
          + "\" }";
    }
  }
}
