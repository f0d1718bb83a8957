package dev.idempotency.gateway.fingerprint;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set of JSON pointers (RFC 6901) as a tree that is walked along with a document.
 *
 * <p>Threading: immutable once built, so that any number of threads may walk it.
 */
final class PointerTree {

  private final byte[] token;

  /** The token as an index of an array, or -1 where it is none (RFC 6901 §4). */
  private final int index;

  private final List<PointerTree> children = new ArrayList<>();
  private boolean target;
  private boolean choosing;
  private boolean chosen;

  private PointerTree(String token) {
    this.token = token.getBytes(StandardCharsets.UTF_8);
    this.index = index(token);
  }

  /** The token as an index of an array, or -1 where it is none (RFC 6901 §4). */
  static int index(String token) {
    return token.matches("0|[1-9][0-9]{0,8}") ? Integer.parseInt(token) : -1;
  }

  /** The tree of these pointers, or null where there are none. */
  static @Nullable PointerTree of(List<String> pointers) {
    if (pointers.isEmpty()) {
      return null;
    }
    PointerTree root = new PointerTree("");
    for (String pointer : pointers) {
      root.add(pointer, false);
    }
    return root;
  }

  /**
   * A tree that leaves out what is not at or below one of the {@code chosen} pointers, or is at one
   * of the others; null where nothing is chosen.
   */
  static @Nullable PointerTree choosing(List<String> chosen, List<String> ignored) {
    if (chosen.isEmpty()) {
      return null;
    }
    PointerTree root = new PointerTree("");
    for (String pointer : chosen) {
      if (chosen.stream().noneMatch(other -> pointer.startsWith(other + '/'))) {
        root.add(pointer, true);
      }
    }
    for (String pointer : ignored) {
      if (chosen.stream().anyMatch(kept -> isWithin(pointer, kept))) {
        root.add(pointer, false);
      }
    }
    return root;
  }

  /** Whether a pointer leads to the same part as another, or into it. */
  static boolean isWithin(String pointer, String other) {
    return pointer.equals(other) || pointer.startsWith(other + '/');
  }

  /** Throws where the text is no pointer to a part of a document. */
  static void check(String pointer) {
    if (!pointer.startsWith("/") || pointer.matches("(?s).*~([^01].*)?")) {
      throw new IllegalArgumentException(
          "pointer \"" + pointer + "\" (expected: RFC 6901, such as /metadata/sent_at)");
    }
  }

  private void add(String pointer, boolean choose) {
    check(pointer);
    PointerTree node = this;
    for (String token : pointer.substring(1).split("/", -1)) {
      node.choosing |= choose;
      node = node.child(token.replace("~1", "/").replace("~0", "~"));
    }
    node.target |= !choose;
    node.chosen |= choose;
  }

  private PointerTree child(String name) {
    byte[] wanted = name.getBytes(StandardCharsets.UTF_8);
    for (PointerTree child : children) {
      if (Arrays.equals(child.token, wanted)) {
        return child;
      }
    }
    PointerTree child = new PointerTree(name);
    children.add(child);
    return child;
  }

  /** Whether a pointer ends here that leaves something out. */
  boolean isTarget() {
    return target;
  }

  /** Whether a pointer ends here that chooses something. */
  boolean isChosen() {
    return chosen;
  }

  /** Whether everything is left out here that leads nowhere. */
  boolean isChoosing() {
    return choosing;
  }

  /** Where the member of that name leads, or null. */
  @Nullable PointerTree member(byte[] bytes, int from, int to) {
    for (int i = 0; i < children.size(); i++) {
      byte[] name = children.get(i).token;
      if (Arrays.equals(name, 0, name.length, bytes, from, to)) {
        return children.get(i);
      }
    }
    return null;
  }

  /** Where the element at that index leads, or null. */
  @Nullable PointerTree element(int position) {
    for (int i = 0; i < children.size(); i++) {
      if (children.get(i).index == position) {
        return children.get(i);
      }
    }
    return null;
  }
}
