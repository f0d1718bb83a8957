package dev.idempotency.gateway.demo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedInput;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The whole ledger as JSON, made piece by piece as the client takes it: it may be large. */
final class LedgerText implements ChunkedInput<ByteBuf> {

  private static final int PIECE = 16 * 1024;

  private final Ledger ledger;
  private final Iterator<Map.Entry<String, Tally>> keys;
  private long written;
  private boolean first = true;
  private boolean ended;

  LedgerText(Ledger ledger) {
    this.ledger = ledger;
    this.keys = ledger.keys();
  }

  @Override
  public @Nullable ByteBuf readChunk(ByteBufAllocator allocator) {
    if (ended) {
      return null;
    }
    StringBuilder text = new StringBuilder(PIECE + 1024);
    if (written == 0) {
      appendTotals(text);
    }
    while (keys.hasNext() && text.length() < PIECE) {
      Map.Entry<String, Tally> entry = keys.next();
      text.append(first ? "\n" : ",\n").append(Json.quote(entry.getKey())).append(':');
      text.append(entry.getValue().toJson());
      first = false;
    }
    if (!keys.hasNext()) {
      text.append("}}\n");
      ended = true;
    }
    written += text.length();
    return ByteBufUtil.writeAscii(allocator, text);
  }

  private void appendTotals(StringBuilder text) {
    text.append("{\"effects\":").append(ledger.effects());
    text.append(",\"attempts\":").append(ledger.attempts());
    text.append(",\"keyless\":").append(ledger.keyless().toJson());
    text.append(",\"untracked\":").append(ledger.untracked().toJson());
    text.append(",\"keys\":{");
  }

  @Override
  @Deprecated
  @SuppressWarnings("InlineMeSuggester") // nobody calls it: the interface still asks for it
  public @Nullable ByteBuf readChunk(ChannelHandlerContext ctx) {
    return readChunk(ctx.alloc());
  }

  @Override
  public boolean isEndOfInput() {
    return ended;
  }

  @Override
  public void close() {
    ended = true;
  }

  @Override
  public long length() {
    return -1;
  }

  @Override
  public long progress() {
    return written;
  }
}
