/**
 * Fingerprints of requests: the canonical form of a JSON body and the hash over everything that a
 * request asks for. Canonicalization merges only bodies that are equal as data; in any doubt the
 * raw bytes are hashed.
 */
@NullMarked
package dev.idempotency.gateway.fingerprint;

import org.jspecify.annotations.NullMarked;
