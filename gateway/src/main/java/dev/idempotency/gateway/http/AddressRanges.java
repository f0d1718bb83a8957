package dev.idempotency.gateway.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Ranges of IP addresses in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3). An IPv4 address that
 * comes mapped into IPv6 is that IPv4 address.
 */
public final class AddressRanges {

  /** No address. */
  public static final AddressRanges NONE = new AddressRanges(List.of());

  private static final Pattern ADDRESS =
      Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|(?=.*:)[0-9A-Fa-f:.]{2,45}");

  private final List<Range> ranges;

  private AddressRanges(List<Range> ranges) {
    this.ranges = List.copyOf(ranges);
  }

  /**
   * Reads ranges such as {@code 10.0.0.0/8} or {@code ::1}.
   *
   * @throws IllegalArgumentException if one is none; the message is the text that is not
   */
  public static AddressRanges of(List<String> texts) {
    List<Range> ranges = new ArrayList<>();
    texts.forEach(text -> ranges.add(Range.of(text)));
    return new AddressRanges(ranges);
  }

  /** Whether the text is an IPv4 or IPv6 address, without brackets, port and zone. */
  public static boolean isAddress(String text) {
    return bytesOf(text) != null;
  }

  /** Whether no address is in it. */
  public boolean isEmpty() {
    return ranges.isEmpty();
  }

  /** Whether the address, in text form, is in one of the ranges. Names are in none. */
  public boolean contains(String address) {
    if (ranges.isEmpty()) {
      return false;
    }
    byte[] bytes = bytesOf(address);
    return bytes != null && ranges.stream().anyMatch(range -> range.contains(bytes));
  }

  /** Never asks a name server: what is not an address by its form gives null. */
  private static byte @Nullable [] bytesOf(String address) {
    if (!ADDRESS.matcher(address).matches()) {
      return null;
    }
    try {
      return InetAddress.getByName(address).getAddress();
    } catch (UnknownHostException e) {
      return null;
    }
  }

  private record Range(@SuppressWarnings("ArrayRecordComponent") byte[] network, int bits) {

    static Range of(String text) {
      int slash = text.indexOf('/');
      byte[] network = bytesOf(slash < 0 ? text : text.substring(0, slash));
      if (network == null) {
        throw new IllegalArgumentException(text);
      }
      int most = 8 * network.length;
      String length = slash < 0 ? Integer.toString(most) : text.substring(slash + 1);
      if (!length.matches("\\d{1,3}") || Integer.parseInt(length) > most) {
        throw new IllegalArgumentException(text);
      }
      Range range = new Range(network, Integer.parseInt(length));
      if (!Arrays.equals(network, range.masked(network))) {
        throw new IllegalArgumentException(text);
      }
      return range;
    }

    boolean contains(byte[] address) {
      return address.length == network.length && Arrays.equals(network, masked(address));
    }

    private byte[] masked(byte[] address) {
      byte[] masked = address.clone();
      for (int i = 0; i < masked.length; i++) {
        int left = Math.max(0, Math.min(8, bits - 8 * i));
        masked[i] &= (byte) (0xff << (8 - left));
      }
      return masked;
    }
  }
}
