package dev.idempotency.gateway.store.redis;

import dev.idempotency.gateway.idempotency.OperationId;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The names of everything in Redis: the prefix, and hashes of scope and key, never bytes of a
 * client.
 *
 * <table>
 * <caption>Names; {@code xx} is the first byte of the operation's id</caption>
 * <tr><th></th><th>one server</th><th>Cluster</th></tr>
 * <tr><td>record</td><td>{@code idem:<id>}</td><td><code>idem:{xx}:&lt;id&gt;</code></td></tr>
 * <tr><td>index of what is not finished</td><td>{@code idem:open}</td><td><code>idem:{xx}:open
 * </code></td></tr>
 * <tr><td>channel of changes</td><td>{@code idem:settled:xx}</td><td><code>idem:{xx}:settled</code>
 * </td></tr>
 * <tr><td>companion of a record</td><td><code>{idem:&lt;id&gt;}:h</code></td><td><code>
 * idem:{xx}:&lt;id&gt;:h</code></td></tr>
 * </table>
 *
 * <p>In a cluster the 256 buckets are spread over the slots and each lies in one, so that a script
 * finds record, index and channel on one node.
 */
final class KeyNames {

  /** How many buckets operations are spread over. */
  static final int BUCKETS = 256;

  private static final int ID = 2 * OperationId.LENGTH;

  private final String prefix;
  private final boolean cluster;
  private final byte[] prefixBytes;
  private final byte[][] tags = new byte[BUCKETS][];
  private final byte[][] indexes;
  private final byte[][] channels = new byte[BUCKETS][];

  KeyNames(String prefix, boolean cluster) {
    this.prefix = prefix;
    this.cluster = cluster;
    this.prefixBytes = bytes(prefix);
    this.indexes = new byte[cluster ? BUCKETS : 1][];
    for (int i = 0; i < BUCKETS; i++) {
      String bucket = HexFormat.of().toHexDigits((byte) i);
      String tag = cluster ? prefix + "{" + bucket + "}:" : prefix;
      tags[i] = bytes(tag);
      channels[i] = bytes(cluster ? tag + "settled" : tag + "settled:" + bucket);
      if (i < indexes.length) {
        indexes[i] = bytes(tag + "open");
      }
    }
  }

  static int bucket(OperationId id) {
    return id.hashCode() >>> 24;
  }

  /** The key of the operation's record. */
  byte[] record(OperationId id) {
    byte[] tag = cluster ? tags[bucket(id)] : prefixBytes;
    byte[] name = bytes(id.toString());
    byte[] key = new byte[tag.length + name.length];
    System.arraycopy(tag, 0, key, 0, tag.length);
    System.arraycopy(name, 0, key, tag.length, name.length);
    return key;
  }

  /** The operation whose record has that key; null where it is none of ours. */
  @Nullable OperationId id(byte[] record) {
    if (record.length < ID) {
      return null;
    }
    String name = new String(record, record.length - ID, ID, StandardCharsets.ISO_8859_1);
    try {
      return OperationId.of(HexFormat.of().parseHex(name));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** A key beside the record, in the same slot, that belongs to it. */
  byte[] companion(OperationId id, String suffix) {
    String record = new String(record(id), StandardCharsets.UTF_8);
    return bytes((cluster ? record : "{" + record + "}") + ":" + suffix);
  }

  /** How many indexes there are. */
  int indexes() {
    return indexes.length;
  }

  /** One of the indexes of operations that are not finished. */
  byte[] index(int number) {
    return indexes[number];
  }

  /** The index that the operation is in while it is not finished. */
  byte[] index(OperationId id) {
    return indexes[cluster ? bucket(id) : 0];
  }

  /** Where changes of the records of a bucket are told. */
  byte[] channel(int bucket) {
    return channels[bucket];
  }

  /** Another name under the prefix, that no operation has. */
  byte[] named(String suffix) {
    return bytes(prefix + suffix);
  }

  /** A name that no operation has, in the slot of that bucket where there are slots. */
  byte[] probe(int bucket) {
    return bytes(new String(tags[bucket], StandardCharsets.UTF_8) + "probe");
  }

  /** The name of the marker that says what a server may have forgotten, in the slot of a probe. */
  static byte[] epoch(byte[] probe) {
    String name = new String(probe, StandardCharsets.UTF_8);
    return bytes(name.substring(0, name.length() - "probe".length()) + "epoch");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
