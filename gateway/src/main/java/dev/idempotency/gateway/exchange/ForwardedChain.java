package dev.idempotency.gateway.exchange;

import dev.idempotency.gateway.http.AddressRanges;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What is believed of the lists that trusted proxies have written, each behind what it was given
 * ({@code X-Forwarded-For}, and {@code Forwarded} of RFC 7239). Read from the end: an entry was
 * written by the proxy behind it, so it is believed for as long as the addresses met are trusted
 * ones. The first that is not is the client; what stands before it came from that client, could say
 * anything and is left out.
 */
final class ForwardedChain {

  /** A proxy that is further away than that is none that anybody runs. */
  private static final int MOST_ENTRIES = 32;

  /** The patterns recurse, though not deeper than this many characters make them. */
  private static final int MOST_LENGTH = 2048;

  private static final String TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
  private static final String VALUE =
      TOKEN + "|\"(?:[^\"\\\\\\x00-\\x1f\\x7f]|\\\\[\\x20-\\x7e])*\"";
  private static final String PAIR = TOKEN + "=(?:" + VALUE + ")";

  /** RFC 7239 §4; its grammar knows no empty pairs, and none are let through. */
  private static final Pattern ELEMENT =
      Pattern.compile("\\s*(" + PAIR + "(?:\\s*;\\s*" + PAIR + ")*)\\s*(?:,|$)");

  private static final Pattern FOR =
      Pattern.compile("(?:^|;)\\s*for=(" + VALUE + ")", Pattern.CASE_INSENSITIVE);
  private static final Pattern PORT = Pattern.compile(":[0-9_]{1,5}$");

  private final AddressRanges trusted;

  ForwardedChain(AddressRanges trusted) {
    this.trusted = trusted;
  }

  /** The entries of {@code X-Forwarded-For} that are believed, the client's first. */
  List<String> believedAddresses(List<String> lines) {
    Deque<String> believed = new ArrayDeque<>();
    String[] entries = String.join(",", lines).split(",", -1);
    for (int i = entries.length - 1; i >= 0 && believed.size() < MOST_ENTRIES; i--) {
      String address = addressOf(entries[i].trim());
      if (address == null) {
        break;
      }
      believed.addFirst(address);
      if (!trusted.contains(address)) {
        break;
      }
    }
    return List.copyOf(believed);
  }

  /** The elements of {@code Forwarded} that are believed, as they came, the client's first. */
  List<String> believedElements(List<String> lines) {
    List<String> elements = elementsOf(String.join(",", lines));
    Deque<String> believed = new ArrayDeque<>();
    for (int i = elements.size() - 1; i >= 0 && believed.size() < MOST_ENTRIES; i--) {
      String element = elements.get(i);
      believed.addFirst(element);
      String address = clientOf(element);
      if (address == null || !trusted.contains(address)) {
        break;
      }
    }
    return List.copyOf(believed);
  }

  /** All elements, or none where the list is not well-formed or longer than any that is. */
  private static List<String> elementsOf(String list) {
    List<String> elements = new ArrayList<>();
    Matcher matcher = ELEMENT.matcher(list);
    int at = 0;
    while (at < list.length()) {
      if (list.length() > MOST_LENGTH || !matcher.region(at, list.length()).lookingAt()) {
        return List.of();
      }
      elements.add(matcher.group(1));
      at = matcher.end();
    }
    return elements;
  }

  /** The address of the {@code for} parameter; null where it is hidden or not there. */
  static @Nullable String clientOf(String element) {
    Matcher matcher = FOR.matcher(element);
    if (!matcher.find()) {
      return null;
    }
    String node = matcher.group(1);
    return addressOf(node.startsWith("\"") ? node.substring(1, node.length() - 1) : node);
  }

  /** The address without port and brackets; null where it is none (RFC 7239 §6). */
  private static @Nullable String addressOf(String node) {
    String address = node;
    if (node.startsWith("[")) {
      int end = node.indexOf(']');
      String rest = end < 0 ? "x" : node.substring(end + 1);
      if (!rest.isEmpty() && !PORT.matcher(rest).matches()) {
        return null;
      }
      address = node.substring(1, end);
    } else if (node.indexOf(':') == node.lastIndexOf(':')) {
      address = PORT.matcher(node).replaceFirst("");
    }
    return AddressRanges.isAddress(address) ? address : null;
  }
}
