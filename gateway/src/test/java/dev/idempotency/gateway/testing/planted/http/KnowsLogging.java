package dev.idempotency.gateway.testing.planted.http;

import org.slf4j.Logger;

final class KnowsLogging {
  final Logger logger;

  KnowsLogging(Logger logger) {
    this.logger = logger;
  }
}
