package dev.idempotency.gateway.testing.planted.fingerprint;

import com.github.benmanes.caffeine.cache.Cache;

final class KnowsCaffeine {
  final Cache<String, String> cache;

  KnowsCaffeine(Cache<String, String> cache) {
    this.cache = cache;
  }
}
