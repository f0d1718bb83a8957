package dev.idempotency.gateway.upstream;

import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.transport.FlatHeaders;
import dev.idempotency.gateway.transport.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads responses, and lets no byte stay behind for the next exchange: what comes while nothing was
 * asked, and what is left over after a response, closes the connection (RFC 9112 §9.2). This is
 * judged on raw bytes, because the unfinished head of a second response fires no event at all.
 */
final class ResponseDecoder extends HttpResponseDecoder {

  private static final int MOST_HEAD_BYTES = 64 * 1024;

  private boolean expecting;
  private boolean headRequest;
  private boolean atStart;
  private boolean understood;

  /** Names of fields that a blank followed. */
  private final List<AsciiString> spaced = new ArrayList<>(0);

  ResponseDecoder() {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(8 * 1024)
            .setMaxHeaderSize(MOST_HEAD_BYTES)
            .setMaxChunkSize(64 * 1024)
            .setHeadersFactory(FlatHeaders.FACTORY)
            .setTrailersFactory(FlatHeaders.FACTORY));
  }

  /** A request is about to be sent. */
  void expect(boolean head) {
    expecting = true;
    atStart = true;
    headRequest = head;
  }

  /** The response is complete; says whether nothing is left over. */
  boolean isCleanAfterResponse() {
    expecting = false;
    return actualReadableBytes() == 0;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
    if (expecting) {
      super.channelRead(ctx, msg);
    } else {
      ReferenceCountUtil.release(msg);
      Transport.close(ctx.channel());
    }
  }

  /**
   * Before a response stands nothing, not even an empty line (RFC 9112 §2.2): the codec would skip
   * it, and with it what is left over of another response.
   */
  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
    if (atStart && in.isReadable() && in.getByte(in.readerIndex()) != 'H') {
      in.skipBytes(in.readableBytes());
      out.add(noResponse());
      return;
    }
    int before = out.size();
    atStart &= !in.isReadable();
    super.decode(ctx, in, out);
    if (out.size() > before && out.get(out.size() - 1) instanceof LastHttpContent last) {
      // An interim response is followed by another one.
      atStart = true;
      if (!haveColons(last.trailingHeaders())) {
        last.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("no colon")));
      }
    }
  }

  private static HttpResponse noResponse() {
    HttpResponse none = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    none.setDecoderResult(
        DecoderResult.failure(new IllegalArgumentException("no response begins like that")));
    return none;
  }

  /** Whether the response to what was asked has content where its fields don't say otherwise. */
  boolean hasContent(ResponseHead head) {
    return !headRequest && !head.neverHasContent();
  }

  /**
   * Whether a response is of a version, a status and a framing that are understood here. Nobody
   * asked for another protocol (101), and transfer codings other than one "chunked" were not
   * offered (RFC 9112 §6.1, §7.4).
   */
  boolean isUnderstood() {
    return understood;
  }

  private static boolean isUnderstood(HttpResponse response) {
    HttpVersion version = response.protocolVersion();
    int status = response.status().code();
    if (version.majorVersion() != 1 || status < 100 || status > 999 || status == 101) {
      return false;
    }
    List<String> codings = response.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
    return codings.isEmpty()
        || (codings.size() == 1
            && !response.headers().contains(HttpHeaderNames.CONTENT_LENGTH)
            && codings.get(0).equalsIgnoreCase("chunked")
            && version.minorVersion() > 0);
  }

  /** The name of the protocol is in capitals (RFC 9112 §2.3); the codec makes them so. */
  @Override
  protected String splitFirstWordInitialLine(byte[] line, int start, int length) {
    String version = super.splitFirstWordInitialLine(line, start, length);
    if (!version.equals("HTTP/1.1") && !version.equals("HTTP/1.0")) {
      throw new IllegalArgumentException("not a version of HTTP/1");
    }
    return version;
  }

  /** One blank before the status (RFC 9112 §4); the codec takes any run of white space. */
  @Override
  protected String splitSecondWordInitialLine(byte[] line, int start, int length) {
    if (start < 2 || line[start - 1] != ' ' || line[start - 2] <= ' ') {
      throw new IllegalArgumentException("a status line with other blanks than one");
    }
    return super.splitSecondWordInitialLine(line, start, length);
  }

  /** The reason is nobody's business, but a CR in it is a line end to some (RFC 9112 §2.2). */
  @Override
  protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
    int status = start - 1;
    while (line[status] <= ' ') {
      status--;
    }
    if (line[status + 1] != ' ') {
      throw new IllegalArgumentException("no blank after the status");
    }
    for (int i = status + 1; i < start + length; i++) {
      if (line[i] == '\r') {
        throw new IllegalArgumentException("a bare CR in the status line");
      }
    }
    return super.splitThirdWordInitialLine(line, start, length);
  }

  /** A status code is three digits (RFC 9112 §4); a number parser would take a sign too. */
  @Override
  protected HttpMessage createMessage(String[] initialLine) {
    String status = initialLine[1];
    if (status.length() != 3 || !status.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw new IllegalArgumentException("a status code is not three digits");
    }
    return super.createMessage(initialLine);
  }

  /**
   * Between a field's name and its colon blanks are removed (RFC 9112 §5.1), yet a colon there must
   * be: others may read a line without one differently. What follows in the array may be of an
   * earlier line, because where this one ends is not said: whether there is a value shows it.
   */
  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    int colon = start + length;
    while (colon < line.length && (line[colon] == ' ' || line[colon] == '\t')) {
      colon++;
    }
    if (colon == line.length || line[colon] != ':') {
      throw new IllegalArgumentException("a field has no colon");
    }
    AsciiString name = super.splitHeaderName(line, start, length);
    if (colon > start + length) {
      spaced.add(name);
    }
    return name;
  }

  /** Whether each field with a blank after its name has a value, and so had a colon. */
  private boolean haveColons(HttpHeaders fields) {
    if (spaced.isEmpty()) {
      return true;
    }
    boolean all = true;
    for (AsciiString name : spaced) {
      List<String> values = fields.getAll(name);
      all &= !values.isEmpty() && !values.contains("");
    }
    spaced.clear();
    return all;
  }

  /** Asked once for each head, and before the codec takes fields out of one without content. */
  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage msg) {
    understood = isUnderstood((HttpResponse) msg) && haveColons(msg.headers());
    return headRequest || super.isContentAlwaysEmpty(msg);
  }
}
