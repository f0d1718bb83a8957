package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.Durability;
import dev.idempotency.gateway.idempotency.Durability.Level;
import dev.idempotency.gateway.idempotency.StoreFinding;
import dev.idempotency.gateway.idempotency.StoreFinding.Severity;
import java.util.ArrayList;
import java.util.List;

/** What is wrong with a server that says this of itself. */
final class ServerVerdict {

  private static final long CLOCK_MILLIS = 5_000;

  private final String name;
  private final ServerFacts facts;
  private final RedisDemands demands;
  private final List<StoreFinding> findings = new ArrayList<>();

  private ServerVerdict(String name, ServerFacts facts, RedisDemands demands) {
    this.name = name;
    this.facts = facts;
    this.demands = demands;
  }

  /**
   * Looks at everything.
   *
   * @param name the server's, at the beginning of a sentence
   * @param evicted how many records it has thrown away while it was watched
   */
  static List<StoreFinding> on(String name, ServerFacts facts, RedisDemands demands, long evicted) {
    ServerVerdict verdict = new ServerVerdict(name, facts, demands);
    verdict.look(evicted);
    return List.copyOf(verdict.findings);
  }

  private void look(long evicted) {
    clock();
    if (facts.info() == null) {
      add(
          demands.guarded() ? Severity.ERROR : Severity.NOTE,
          "hidden",
          "does not let us ask INFO, so that it can't be checked"
              + (demands.guarded()
                  ? ", and a restart with lost records is seen only where the marker is gone; allow"
                      + " +info to the user"
                  : "; allow +info to the user"));
      return;
    }
    version();
    role();
    memory(evicted);
    persistence();
    demands.durabilities().forEach(this::durability);
  }

  private void add(Severity severity, String code, String text) {
    findings.add(new StoreFinding(severity, code, name + " " + text));
  }

  private void clock() {
    if (Math.abs(facts.clockAhead()) > CLOCK_MILLIS) {
      add(
          Severity.WARNING,
          "clock",
          "has a clock more than 5 s away from this machine's; leases and retention go by its clock"
              + " and are right, times in logs do not fit; check NTP on both");
    }
  }

  private void version() {
    if (!facts.isAtLeast(7, 0)) {
      add(
          Severity.ERROR,
          "version",
          "is " + facts.field("redis_version") + "; use Redis 7 or later, or Valkey");
    }
  }

  private void role() {
    String role = facts.field("role");
    if (!role.isEmpty() && !role.equals("master")) {
      add(Severity.ERROR, "role", "is a replica; let store.url name the primary");
    }
  }

  private void memory(long evicted) {
    String policy = facts.field("maxmemory_policy");
    if (!policy.isEmpty() && !policy.equals("noeviction")) {
      add(
          Severity.ERROR,
          "eviction-policy",
          "has maxmemory-policy "
              + policy
              + ": it throws records away when its memory is full, and their operations can run a"
              + " second time; set maxmemory-policy noeviction");
    }
    if (evicted > 0) {
      add(
          Severity.ERROR,
          "evictions",
          "has thrown away "
              + evicted
              + " keys since it is watched; records among them are forgotten and their operations"
              + " can run a second time; set maxmemory-policy noeviction and give it more memory");
    }
    long most = facts.number("maxmemory");
    long used = facts.number("used_memory");
    if (most > 0 && used >= most) {
      add(
          Severity.ERROR,
          "memory-full",
          "has reached maxmemory and refuses new operations; raise maxmemory or shorten retention");
    } else if (most > 0 && used >= most - most / 10) {
      add(
          Severity.WARNING,
          "memory-near",
          "uses nine tenths of maxmemory; raise maxmemory or shorten retention");
    }
  }

  private void persistence() {
    String save = facts.setting("save");
    boolean file = facts.field("aof_enabled").equals("1");
    if (!file && save != null && save.isEmpty()) {
      add(
          Severity.WARNING,
          "persistence",
          "keeps nothing on disk: a restart forgets every record; set appendonly yes");
    }
    if (facts.settings() == null) {
      add(
          Severity.NOTE,
          "config-hidden",
          "does not let us ask CONFIG GET, so that save and appendfsync can't be checked; allow"
              + " +config|get to the user, or look yourself");
    }
  }

  private void durability(Durability wanted) {
    if (wanted.level() == Level.REPLICAS) {
      replicas(wanted.replicas());
    } else if (wanted.level() == Level.DISK) {
      disk();
    }
  }

  private void replicas(int wanted) {
    if (facts.replicas() < wanted) {
      add(
          Severity.ERROR,
          "replicas",
          "has "
              + facts.replicas()
              + " replicas in step, and a route wants each write on "
              + wanted
              + ": its new operations are refused with 503; start replicas, or ask for fewer in"
              + " durability");
    }
    String least = facts.setting("min-replicas-to-write");
    if (least != null && least.equals("0")) {
      add(
          Severity.NOTE,
          "min-replicas",
          "has min-replicas-to-write 0: cut off from its replicas it goes on taking writes of routes"
              + " that ask for no durability; set it to 1");
    }
  }

  private void disk() {
    boolean file = facts.field("aof_enabled").equals("1");
    String sync = facts.setting("appendfsync");
    if (!file) {
      add(
          Severity.ERROR,
          "disk",
          "has appendonly no, and a route wants each write on its disk: its new operations are"
              + " refused with 503; set appendonly yes");
    } else if (!facts.isAtLeast(7, 2) && !"always".equals(sync)) {
      add(
          Severity.ERROR,
          "disk",
          "knows no WAITAOF (7.2 or later has it) and has not appendfsync always, and a route wants"
              + " each write on its disk: its new operations are refused with 503; set appendfsync"
              + " always, or use a later version");
    }
  }
}
