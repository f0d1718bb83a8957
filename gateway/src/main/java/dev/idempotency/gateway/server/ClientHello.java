package dev.idempotency.gateway.server;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The one thing that is read of a client's hello by ourselves (RFC 8446 §4.1.2). */
final class ClientHello {

  private static final int VERSION_AND_RANDOM = 2 + 32;
  private static final int ALPN = 16;

  private ClientHello() {}

  /**
   * The protocols that a client offers (RFC 7301 §3.1); null where it offers none, or where its
   * hello is malformed, which the handshake finds out.
   *
   * @param hello from the version on; its reader index stays
   */
  static @Nullable List<String> applicationProtocols(ByteBuf hello) {
    try {
      ByteBuf in = hello.slice();
      in.skipBytes(VERSION_AND_RANDOM);
      in.skipBytes(in.readUnsignedByte()); // session id
      in.skipBytes(in.readUnsignedShort()); // cipher suites
      in.skipBytes(in.readUnsignedByte()); // compression methods
      ByteBuf extensions = in.readSlice(in.readUnsignedShort());
      while (extensions.isReadable()) {
        int type = extensions.readUnsignedShort();
        ByteBuf extension = extensions.readSlice(extensions.readUnsignedShort());
        if (type == ALPN) {
          return names(extension.readSlice(extension.readUnsignedShort()));
        }
      }
      return null;
    } catch (IndexOutOfBoundsException e) {
      return null;
    }
  }

  private static List<String> names(ByteBuf list) {
    List<String> names = new ArrayList<>();
    while (list.isReadable()) {
      ByteBuf name = list.readSlice(list.readUnsignedByte());
      names.add(name.toString(StandardCharsets.US_ASCII));
    }
    return names;
  }
}
