package dev.idempotency.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.testing.Http2RawClient;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Http2FrameWatchTest {

  private final Http2Allowance allowance = new Http2Allowance(1, 0);
  private final Http2FrameWatch watch = new Http2FrameWatch(allowance, 100);

  private void read(byte[] bytes, long now) {
    watch.read(Unpooled.wrappedBuffer(bytes), now);
  }

  private void preface() {
    read(Http2RawClient.PREFACE.getBytes(StandardCharsets.US_ASCII), 100);
  }

  private static byte[] frame(int type, int flags, int stream, int length) {
    return Http2RawClient.frame(type, flags, stream, new byte[length]);
  }

  @Test
  void prefaceIsUnfinishedFromTheStart() {
    assertThat(watch.unfinishedFor(150)).isEqualTo(50);
    read(new byte[20], 120);
    assertThat(watch.unfinishedFor(150)).isEqualTo(50);
    read(new byte[4], 130);
    assertThat(watch.unfinishedFor(150)).isZero();
  }

  @Test
  void fieldBlockIsUnfinishedUntilItsLastFrame() {
    preface();
    read(frame(Http2RawClient.HEADERS, 0, 1, 3), 200);
    assertThat(watch.unfinishedFor(250)).isEqualTo(50);
    read(frame(Http2RawClient.CONTINUATION, 0, 1, 3), 220);
    assertThat(watch.unfinishedFor(250)).isEqualTo(50);
    read(frame(Http2RawClient.CONTINUATION, Http2RawClient.END_HEADERS, 1, 3), 240);
    assertThat(watch.unfinishedFor(250)).isZero();
  }

  @Test
  void partOfAFrameIsUnfinishedUnlessItIsData() {
    preface();
    byte[] ping = frame(Http2RawClient.PING, 0, 0, 8);
    read(Arrays.copyOf(ping, 5), 200);
    assertThat(watch.unfinishedFor(230)).isEqualTo(30);
    read(Arrays.copyOfRange(ping, 5, 17), 240);
    assertThat(watch.unfinishedFor(250)).isZero();

    byte[] data = frame(Http2RawClient.DATA, 0, 7, 100);
    read(Arrays.copyOf(data, 5), 300);
    assertThat(watch.unfinishedFor(310)).as("it might be anything").isEqualTo(10);
    read(Arrays.copyOfRange(data, 5, 29), 320);
    assertThat(watch.unfinishedFor(330)).isZero();
    assertThat(watch.dataStream()).isEqualTo(7);
    assertThat(watch.dataBytes()).isEqualTo(20);
    read(Arrays.copyOfRange(data, 29, 109), 340);
    assertThat(watch.dataStream()).isZero();
  }

  @Test
  void nextFieldBlockHasItsOwnTime() {
    preface();
    ByteArrayOutputStream both = new ByteArrayOutputStream();
    read(frame(Http2RawClient.HEADERS, 0, 1, 3), 200);
    both.writeBytes(frame(Http2RawClient.CONTINUATION, Http2RawClient.END_HEADERS, 1, 3));
    both.writeBytes(frame(Http2RawClient.HEADERS, 0, 3, 3));
    read(both.toByteArray(), 300);
    assertThat(watch.unfinishedFor(310)).isEqualTo(10);
  }

  @Test
  void framesAreCountedAlikeHoweverTheyAreCut() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    ByteArrayOutputStream many = new ByteArrayOutputStream();
    many.writeBytes(new byte[24]);
    for (int i = 0; i < 2_000; i++) {
      many.writeBytes(frame(Http2RawClient.PING, 0, 0, 8));
      many.writeBytes(frame(Http2RawClient.DATA, 0, 1, random.nextInt(300) + 1));
    }
    byte[] all = many.toByteArray();
    for (int at = 0; at < all.length; ) {
      int next = Math.min(all.length, at + 1 + random.nextInt(500));
      read(Arrays.copyOfRange(all, at, next), 200);
      at = next;
    }
    assertThat(allowance.isOverdrawn(0)).as("2000 are allowed").isFalse();
    read(frame(Http2RawClient.PING, 0, 0, 8), 200);
    assertThat(allowance.isOverdrawn(0)).isTrue();
  }
}
