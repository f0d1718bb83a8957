package dev.idempotency.gateway;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.stream.Collectors;

/** The laws of the house, for the packages under a root. */
final class ArchitectureLaws {

  /** The packages under the roof: each knows the centre, none knows another. */
  private static final List<String> SIBLINGS =
      List.of(
          "server",
          "upstream",
          "operations",
          "store.redis",
          "store.memory",
          "store.postgres",
          "store.envelope",
          "fingerprint",
          "identity",
          "config",
          "cli",
          "demo");

  private static final String[] LANGUAGE = {"java..", "javax..", "org.jspecify.."};

  /** The methods that wait, by the type that has them. */
  private static final Map<Class<?>, Set<String>> BLOCKING =
      Map.of(
          Future.class,
          Set.of("get", "join", "sync", "syncUninterruptibly", "await", "awaitUninterruptibly"),
          CompletableFuture.class,
          Set.of("get", "join"),
          Thread.class,
          Set.of("sleep", "join"),
          BlockingQueue.class,
          Set.of("take", "put"),
          CountDownLatch.class,
          Set.of("await"),
          Condition.class,
          Set.of("await", "awaitNanos", "awaitUntil", "awaitUninterruptibly"),
          Semaphore.class,
          Set.of("acquire", "acquireUninterruptibly"),
          ExecutorService.class,
          Set.of("awaitTermination", "invokeAll", "invokeAny"));

  private static final Set<String> LETTUCE_BLOCKING =
      Set.of("sync", "connect", "connectPubSub", "connectSentinel");

  private final String root;

  ArchitectureLaws(String root) {
    this.root = root;
  }

  /** All of them by name. */
  Map<String, ArchRule> all() {
    Map<String, ArchRule> laws = new LinkedHashMap<>();
    laws.put("http knows the language only", knowsOnly("http"));
    laws.put("idempotency knows http only", knowsOnly("idempotency", in("http")));
    laws.put(
        "exchange knows http and idempotency only",
        knowsOnly("exchange", in("http"), in("idempotency")));
    laws.put(
        "transport knows http and the network library only",
        knowsOnly("transport", in("http"), "io.netty.."));
    for (String sibling : SIBLINGS) {
      laws.put(sibling + " knows no sibling", knowsNoSibling(sibling));
    }
    laws.put("transport is for the network edges", transportIsForEdges());
    laws.put("Lettuce lives in store.redis", livesIn("store.redis", "io.lettuce.."));
    laws.put(
        "the driver, the pool and the migrations live in store.postgres",
        livesIn("store.postgres", "org.postgresql..", "com.zaxxer..", "org.flywaydb.."));
    laws.put(
        "SQL lives in store.postgres and the demo that shares its database",
        livesIn(List.of("store.postgres", "demo"), "java.sql..", "javax.sql.."));
    laws.put(
        "Caffeine lives in store.memory and identity",
        livesIn(List.of("store.memory", "identity"), "com.github.benmanes.."));
    laws.put(
        "libraries for tokens and structured fields live in identity",
        livesIn("identity", "com.nimbusds..", "org.greenbytes.."));
    laws.put(
        "metrics and log libraries live in operations",
        livesIn("operations", "io.micrometer..", "io.prometheus..", "ch.qos.logback.."));
    laws.put("nothing knows the root", nothingKnowsTheRoot());
    laws.put("no cycles", slices().matching(root + ".(**)").should().beFreeOfCycles());
    laws.put("nothing blocks", nothingBlocks());
    laws.put("the time of day decides nothing between gateways", readsNoTimeOfDay());
    laws.put("names say something", namesSaySomething());
    laws.replaceAll((name, law) -> law.allowEmptyShould(true).as(name));
    return laws;
  }

  private String in(String name) {
    return root + '.' + name + "..";
  }

  private ArchRule knowsOnly(String name, String... others) {
    List<String> known = new ArrayList<>(List.of(LANGUAGE));
    known.add(in(name));
    known.addAll(List.of(others));
    return classes()
        .that()
        .resideInAPackage(in(name))
        .should()
        .onlyDependOnClassesThat(arrayOr(resideInAnyPackage(known.toArray(new String[0]))));
  }

  /** Arrays of primitives reside in no package of the language. */
  private static DescribedPredicate<JavaClass> arrayOr(DescribedPredicate<JavaClass> known) {
    return known.or(
        describe(
            "primitive",
            type ->
                type.getBaseComponentType().isPrimitive()
                    || known.test(type.getBaseComponentType())));
  }

  private ArchRule knowsNoSibling(String sibling) {
    String[] others =
        SIBLINGS.stream()
            .filter(other -> !other.equals(sibling))
            .map(this::in)
            .toArray(String[]::new);
    return noClasses()
        .that()
        .resideInAPackage(in(sibling))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(others);
  }

  private ArchRule transportIsForEdges() {
    return noClasses()
        .that()
        .resideInAnyPackage(
            in("http"),
            in("idempotency"),
            in("exchange"),
            in("fingerprint"),
            in("config"),
            in("cli"),
            in("identity"),
            in("store.envelope"),
            in("store.memory"),
            in("store.postgres"))
        .should()
        .dependOnClassesThat()
        .resideInAPackage(in("transport"));
  }

  private ArchRule livesIn(String home, String... libraries) {
    return livesIn(List.of(home), libraries);
  }

  private ArchRule livesIn(List<String> homes, String... libraries) {
    return noClasses()
        .that(insideBut(homes))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(libraries);
  }

  private DescribedPredicate<JavaClass> insideBut(List<String> homes) {
    String[] inside = homes.stream().map(this::in).toArray(String[]::new);
    return resideInAPackage(root + ".*..").and(DescribedPredicate.not(resideInAnyPackage(inside)));
  }

  private ArchRule nothingKnowsTheRoot() {
    return noClasses()
        .that()
        .resideInAPackage(root + ".*..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(root);
  }

  private ArchRule nothingBlocks() {
    return noClasses()
        .that()
        .resideInAPackage(root + ".*..")
        .should()
        .accessTargetWhere(describe("blocks", ArchitectureLaws::blocks));
  }

  private static boolean blocks(JavaAccess<?> access) {
    JavaClass owner = access.getTargetOwner();
    String name = access.getName();
    return (owner.getPackageName().startsWith("io.lettuce.core") && blocksInLettuce(owner, name))
        || BLOCKING.entrySet().stream()
            .anyMatch(
                entry -> entry.getValue().contains(name) && owner.isAssignableTo(entry.getKey()));
  }

  private static boolean blocksInLettuce(JavaClass owner, String name) {
    return owner.getPackageName().endsWith(".sync")
        || LETTUCE_BLOCKING.contains(name)
        || owner.getSimpleName().equals("LettuceFutures");
  }

  /**
   * Clocks of machines differ and jump. What they say may be told, to clients, operators and logs;
   * it may be compared with what others say of time, such as tokens, certificates and keys, where a
   * difference is allowed for. Leases, retentions and pauses go by the store's clock and by
   * monotonic time.
   */
  private ArchRule readsNoTimeOfDay() {
    String[] told = {
      "LoopScheduler",
      "http.HttpDate",
      "operations.AccessLog",
      "server.ServerTls",
      "identity.JwtVerifier",
      "store.redis.ServerCheck",
      "store.memory.MemoryIdempotencyStore",
      "exchange.Incoming",
      "exchange.ProbeCall",
      "exchange.Settling",
      "exchange.KeyTime",
      "exchange.KeyedExchange"
    };
    Set<String> names =
        Arrays.stream(told).map(name -> root + '.' + name).collect(Collectors.toSet());
    return noClasses()
        .that(describe("are not told of", type -> !names.contains(type.getName())))
        .and()
        .resideOutsideOfPackage(in("demo"))
        .should()
        .accessTargetWhere(describe("reads the time of day", ArchitectureLaws::readsDay));
  }

  private static boolean readsDay(JavaAccess<?> access) {
    JavaClass owner = access.getTargetOwner();
    String name = access.getName();
    return name.equals("currentTimeMillis")
        || (owner.getPackageName().equals("java.time")
            && (name.equals("now") || name.startsWith("system")));
  }

  private ArchRule namesSaySomething() {
    return classes()
        .that()
        .resideInAPackage(root + "..")
        .should()
        .haveNameNotMatching(".*(Manager|Helper|Utils?|Impl|Info|Data|Context)");
  }
}
