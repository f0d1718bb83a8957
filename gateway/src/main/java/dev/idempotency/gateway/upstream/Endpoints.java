package dev.idempotency.gateway.upstream;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of an upstream on one event loop, and the choice among them: the one with least
 * under way, by turns where several have as little. There are few of them, so that all are looked
 * at; comparing two at random would only be worse.
 *
 * <p>What is unhealthy or ejected is passed over, unless there is nothing else (an upstream is
 * never refused for what is thought of all its addresses).
 *
 * <p>Threading: event loop; the counts may be read from elsewhere, a moment late.
 */
final class Endpoints {

  /** How good an address is. Only the best ones there are get requests. */
  private enum Grade {
    UNHEALTHY,
    EJECTED,
    USABLE
  }

  private static final class Member {
    final Endpoint endpoint;
    final Standing standing;

    Member(Endpoint endpoint, Standing standing) {
      this.endpoint = endpoint;
      this.standing = standing;
    }
  }

  private final HealthBoard health;
  private volatile List<Member> members = List.of();
  private volatile List<Endpoint> leaving = List.of();
  private int turn;

  Endpoints(HealthBoard health) {
    this.health = health;
  }

  boolean isEmpty() {
    return members.isEmpty();
  }

  List<Endpoint> all() {
    return members.stream().map(member -> member.endpoint).toList();
  }

  /** Takes over the addresses as they are now; connections to those that stayed stay too. */
  void replace(
      Map<InetSocketAddress, UpstreamOptions.Address> now, Ejection ejection, Endpoint.Home home) {
    Map<InetSocketAddress, Member> before = new LinkedHashMap<>();
    members.forEach(member -> before.put(member.endpoint.address(), member));
    List<Member> next = new ArrayList<>();
    now.forEach(
        (address, named) -> {
          Member known = before.remove(address);
          next.add(
              known != null
                  ? known
                  : new Member(new Endpoint(home, named, address), new Standing(ejection)));
        });
    members = List.copyOf(next);
    List<Endpoint> gone = new ArrayList<>(leaving);
    before.values().forEach(member -> gone.add(member.endpoint));
    leaving = List.copyOf(gone);
    before.values().forEach(member -> member.endpoint.leave());
  }

  /**
   * Chooses where a request goes.
   *
   * @param tried those that it can't go to any more
   */
  @Nullable Endpoint choose(long now, Collection<Endpoint> tried) {
    if (tried.isEmpty()) {
      // One step a request: those that go on from a dead address must not keep the rhythm.
      turn++;
    }
    List<Member> all = members;
    if (all.size() == 1) {
      Endpoint only = all.get(0).endpoint;
      return tried.contains(only) ? null : only;
    }
    boolean anyHealthy = all.stream().anyMatch(this::isHealthy);
    Grade least = anyHealthy ? Grade.EJECTED : Grade.UNHEALTHY;
    return best(now, least, endpoint -> !tried.contains(endpoint));
  }

  /** Of the addresses that are no worse than the one chosen, that with least to do and a place. */
  @Nullable Endpoint chooseWithPlace(long now, Endpoint chosen) {
    for (Member member : members) {
      if (member.endpoint == chosen) {
        return best(now, grade(member, now), Endpoint::hasPlace);
      }
    }
    return null;
  }

  private @Nullable Endpoint best(long now, Grade least, Predicate<Endpoint> condition) {
    List<Member> all = members;
    Member best = null;
    Grade bestGrade = least;
    for (int i = 0; i < all.size(); i++) {
      Member member = all.get(Math.floorMod(turn + i, all.size()));
      Grade grade = grade(member, now);
      if (grade.compareTo(bestGrade) < 0 || !condition.test(member.endpoint)) {
        continue;
      }
      if (best == null || grade != bestGrade || member.endpoint.load() < best.endpoint.load()) {
        best = member;
        bestGrade = grade;
      }
    }
    return best == null ? null : best.endpoint;
  }

  private Grade grade(Member member, long now) {
    if (!isHealthy(member)) {
      return Grade.UNHEALTHY;
    }
    return member.standing.isUsable(now) ? Grade.USABLE : Grade.EJECTED;
  }

  private boolean isHealthy(Member member) {
    return health.isHealthy(member.endpoint.address());
  }

  /** Closes a connection that rests at an address that gets no requests now. */
  boolean dropRest() {
    return members.stream().anyMatch(member -> member.endpoint.dropRest());
  }

  /** How the address fares; null where it is the only one, or one no more. */
  @Nullable Standing standing(Endpoint endpoint) {
    List<Member> all = members;
    if (all.size() < 2) {
      return null;
    }
    for (Member member : all) {
      if (member.endpoint == endpoint) {
        return member.standing;
      }
    }
    return null;
  }

  /** A request goes there. */
  void chosen(Endpoint endpoint, long now) {
    Standing standing = standing(endpoint);
    if (standing != null) {
      standing.chosen(now);
    }
  }

  void beat(long now) {
    members.forEach(member -> member.endpoint.beat(now));
    leaving.forEach(endpoint -> endpoint.beat(now));
    if (!leaving.isEmpty()) {
      leaving = leaving.stream().filter(endpoint -> !endpoint.isEmpty()).toList();
    }
  }

  void leave() {
    members.forEach(member -> member.endpoint.leave());
  }

  int connections() {
    return sum(Endpoint::connections);
  }

  int restingLinks() {
    return sum(Endpoint::restingLinks);
  }

  long overdueLinks() {
    long sum = 0;
    for (Member member : members) {
      sum += member.endpoint.overdueLinks();
    }
    for (Endpoint gone : leaving) {
      sum += gone.overdueLinks();
    }
    return sum;
  }

  private int sum(ToIntFunction<Endpoint> count) {
    int sum = 0;
    for (Member member : members) {
      sum += count.applyAsInt(member.endpoint);
    }
    for (Endpoint gone : leaving) {
      sum += count.applyAsInt(gone);
    }
    return sum;
  }

  int size() {
    return members.size();
  }

  int ejected() {
    return (int) members.stream().filter(member -> member.standing.isEjected()).count();
  }

  int unhealthy() {
    return (int) members.stream().filter(member -> !isHealthy(member)).count();
  }
}
