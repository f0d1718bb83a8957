package dev.idempotency.loadtest;

import java.io.File;
import java.util.List;

/** The steps of an exchange, by the names that the gateway gives them. */
final class Steps {

  static final List<String> ALL =
      List.of(
          "RESERVING",
          "RESERVED",
          "SENDING",
          "SENT",
          "RENEWED",
          "RESPONDED",
          "SETTLED",
          "ANSWERED");

  private Steps() {}

  /** The gateway with its test classes, as the build has made them. */
  static String classPath() {
    String path = System.getProperty("gateway.classpath");
    if (path == null) {
      throw new IllegalStateException(
          "-Dgateway.classpath is not set (expected: the gateway's jar and its test classes)");
    }
    return path;
  }

  /** The gateway alone. */
  static String jar() {
    return classPath().substring(0, classPath().indexOf(File.pathSeparatorChar));
  }
}
