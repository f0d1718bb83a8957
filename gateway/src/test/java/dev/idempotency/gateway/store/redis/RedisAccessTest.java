package dev.idempotency.gateway.store.redis;

import static dev.idempotency.gateway.store.Fixtures.await;
import static dev.idempotency.gateway.store.Fixtures.reservation;
import static dev.idempotency.gateway.store.Fixtures.response;
import static dev.idempotency.gateway.store.Fixtures.rival;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.idempotency.gateway.idempotency.AttemptToken;
import dev.idempotency.gateway.idempotency.Audit;
import dev.idempotency.gateway.idempotency.OpenOperations;
import dev.idempotency.gateway.idempotency.Reservation;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.Resolution;
import dev.idempotency.gateway.idempotency.ResolveReply;
import dev.idempotency.gateway.idempotency.Settlement;
import dev.idempotency.gateway.idempotency.WriteReply;
import dev.idempotency.gateway.store.Fixtures;
import dev.idempotency.gateway.testing.RedisCluster;
import dev.idempotency.gateway.testing.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A user that may do what the store does, and nothing else. */
class RedisAccessTest {

  /** As the README has it; the commands of scripts count as the user's own. */
  private static final String RULES =
      "reset on >secret ~idem:* ~{idem:* &idem:*"
          + " +hello +ping +select +client|setname +script|load +eval +evalsha"
          + " +get +getrange +set +del +unlink +pttl +pexpire +time"
          + " +zadd +zrem +zcount +zscore +zrangebyscore +rpush +ltrim +lrange +lindex +publish";

  private static final String CLUSTER_RULES = " +cluster|slots +asking";
  private static final Pattern CALLED = Pattern.compile("redis\\.p?call\\(\\s*'([A-Z]+)'");
  private static final Pattern BLANKS = Pattern.compile("\\s+");
  private static final Pattern BLANK = Pattern.compile(" ");

  private static String[] setUser(String rules) {
    List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "gateway"));
    words.addAll(BLANK.splitAsStream(rules).toList());
    return words.toArray(String[]::new);
  }

  private static RedisStoreOptions as(String url, String password) {
    return RedisStoreOptions.of(url).withAccess(RedisAccess.NONE.withPassword("gateway", password));
  }

  /** Every command that the store has, on several operations. */
  private static void assertLife(RedisIdempotencyStore store) {
    for (int i = 0; i < 20; i++) {
      Reservation owner = reservation();
      assertThat(await(store.reserve(owner))).isEqualTo(ReserveReply.ACQUIRED);
      assertThat(await(store.renew(owner))).isEqualTo(WriteReply.DONE);
      assertThat(await(store.settle(owner, new Settlement.Unknown()))).isEqualTo(WriteReply.DONE);
      Reservation next = owner.following(1);
      assertThat(await(store.takeOver(next))).isEqualTo(ReserveReply.ACQUIRED);
      assertThat(await(store.find(owner.id()))).isPresent();
      Settlement done = new Settlement.Completed(response("done"));
      assertThat(await(store.settle(next, done))).isEqualTo(WriteReply.DONE);
      Reservation other = reservation();
      await(store.reserve(other));
      assertThat(await(store.reserve(rival(other)))).isInstanceOf(ReserveReply.Existing.class);
      assertThat(await(store.release(other))).isEqualTo(WriteReply.DONE);
      assertResolved(store);
    }
  }

  private static void assertResolved(RedisIdempotencyStore store) {
    Reservation owner = reservation();
    await(store.reserve(owner));
    await(store.settle(owner, new Settlement.Unknown()));
    assertThat(await(store.list(new OpenOperations.Query("", Duration.ZERO, 100))).operations())
        .isNotNull();
    assertThat(await(store.count(List.of(Duration.ZERO)))).hasSize(1);
    assertThat(
            await(
                store.claimProbe(
                    owner.id(), 1, null, Duration.ofSeconds(1), Duration.ofSeconds(1))))
        .isInstanceOf(OpenOperations.ProbeClaim.Claimed.class);
    Resolution resolution =
        new Resolution(
            owner.id(),
            1,
            null,
            AttemptToken.next(),
            new Resolution.Complete(response("done")),
            Fixtures.RETENTION,
            new Audit("somebody", "it was done"));
    assertThat(await(store.resolve(resolution))).isEqualTo(ResolveReply.DONE);
    assertThat(await(store.history(owner.id()))).hasSize(1);
  }

  @Test
  void everyCommandOfTheScriptsIsAmongTheRights() {
    for (Script script : Script.values()) {
      Matcher called = CALLED.matcher(new String(script.text(), StandardCharsets.UTF_8));
      while (called.find()) {
        assertThat(RULES + " ").contains(" +" + called.group(1).toLowerCase(Locale.ROOT) + " ");
      }
    }
  }

  @Test
  void rightsAreThoseOfTheReadme() throws IOException {
    String readme = Files.readString(Path.of("..", "README.md"));
    String listed = BLANKS.matcher(readme.replace("\\\n", " ")).replaceAll(" ");
    assertThat(listed).contains(RULES.substring(RULES.indexOf('~')), CLUSTER_RULES.strip());
  }

  @Test
  void leastRightsAreEnoughOnOneServer() {
    try (RedisServer redis = RedisServer.start()) {
      assertThat(redis.call(setUser(RULES))).isEqualTo("OK");
      try (LoopStore store = LoopStore.connected(as(redis.url() + "/2", "secret"))) {
        assertLife(store.store());
      }
      assertThat(redis.call("ACL", "LOG")).isEmpty();
    }
  }

  @Test
  void leastRightsAreEnoughInACluster() {
    try (RedisCluster cluster = RedisCluster.start(false)) {
      for (RedisServer node : cluster.nodes()) {
        assertThat(node.call(setUser(RULES + CLUSTER_RULES))).isEqualTo("OK");
      }
      try (LoopStore store = LoopStore.connected(as(cluster.url(), "secret"))) {
        assertLife(store.store());
      }
      assertThat(cluster.nodes()).allSatisfy(it -> assertThat(it.call("ACL", "LOG")).isEmpty());
    }
  }

  @Test
  void userWithoutARightIsRefusedAndToldWhereTheRightsAreListed() {
    try (RedisServer redis = RedisServer.start()) {
      redis.call(setUser(RULES + " -set"));
      try (LoopStore store = LoopStore.connected(as(redis.url(), "secret"))) {
        assertThat(store.store().reserve(reservation()).toCompletableFuture())
            .failsWithin(Duration.ofSeconds(20))
            .withThrowableThat()
            .withMessageContaining("rights that the user needs");
      }
    }
  }

  @Test
  void userOfAnEarlierVersionIsFoundOutWhenConnectingAndNotInTheMiddleOfAScript() {
    try (RedisServer redis = RedisServer.start()) {
      redis.call(setUser(RULES + " -zadd -zrem"));
      try (LoopStore store = LoopStore.started(as(redis.url(), "secret"))) {
        Awaitility.await()
            .until(() -> store.store().detail().contains("rights that the user needs"));
        assertThat(store.store().reachable()).isFalse();
      }
    }
  }

  @Test
  void secretsAreInNoText() {
    RedisStoreOptions options = as("redis://127.0.0.1", "s3cret");
    assertThat(options.toString() + options.access()).doesNotContain("s3cret");
    try (RedisServer redis = RedisServer.start()) {
      redis.call(setUser(RULES));
      try (LoopStore store = LoopStore.started(as(redis.url(), "s3cret"))) {
        Awaitility.await().until(() -> store.store().detail().contains("WRONGPASS"));
        assertThat(store.store().detail()).doesNotContain("s3cret");
      }
    }
  }

  @Test
  void contradictionsAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> as("redis://:one@127.0.0.1", "two"))
        .withMessageContaining("one of them")
        .withMessageNotContaining("two");
    RedisTls tls = new RedisTls(null, List.of(), null);
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                RedisStoreOptions.of("redis://127.0.0.1").withAccess(RedisAccess.NONE.withTls(tls)))
        .withMessageContaining("rediss://");
  }
}
