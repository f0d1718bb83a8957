package dev.idempotency.gateway.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.AbstractNioChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The operating system's way to do network I/O: epoll where there is one, else NIO. */
public enum Transport {
  /** Linux, through the native library. */
  EPOLL,
  /** Every platform. */
  NIO;

  /** Where the byte goes that should not be there; what it holds is never looked at. */
  private static final ByteBuffer UNWANTED = ByteBuffer.allocateDirect(1);

  private static final EpollIoEvent READABLE = () -> EpollIoOps.EPOLLIN;

  /** The best one here. */
  public static Transport best() {
    return Epoll.isAvailable() ? EPOLL : NIO;
  }

  /** Event loops, one thread each. */
  public MultiThreadIoEventLoopGroup group(int threads, String name) {
    IoHandlerFactory factory = this == EPOLL ? LastingEpoll.factory() : NioIoHandler.newFactory();
    return new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory(name, true), factory);
  }

  public Class<? extends ServerChannel> serverChannel() {
    return this == EPOLL ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }

  public Class<? extends DatagramChannel> datagramChannel() {
    return this == EPOLL ? EpollDatagramChannel.class : NioDatagramChannel.class;
  }

  /** A channel to connect with. */
  public SocketChannel socketChannel() {
    return this == EPOLL ? new EpollSocketChannel() : new PeekableNioChannel();
  }

  /**
   * Whether the peer's end of an idle connection is still open and silent, asked of the operating
   * system: neither a close nor bytes that wait in the receive buffer have fired an event yet.
   * Reads one byte without waiting; a byte that is there was sent without a request, and the
   * connection is of no use then.
   *
   * <p>Under TLS what waits need not be an answer: session tickets come unasked. It is read through
   * the pipeline, in which an end or surplus bytes close the channel.
   *
   * <p>Event loop of the channel only, and not within an event of this channel.
   */
  public static boolean isQuietAndOpen(Channel channel) {
    if (!channel.isActive()) {
      return false;
    }
    if (TlsChannels.isTls(channel)) {
      readNow(channel);
      return channel.isActive() && !TlsChannels.isEnding(channel);
    }
    if (channel instanceof EpollSocketChannel epoll) {
      return isQuietAndOpen(epoll.fd());
    }
    return !(channel instanceof PeekableNioChannel nio) || nio.isQuietAndOpen();
  }

  private static boolean isQuietAndOpen(FileDescriptor socket) {
    try {
      return socket.read(UNWANTED, 0, 1) == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Reads what waits in the socket through the pipeline, now and not at the next turn of the loop.
   *
   * <p>Event loop of the channel only, and not within an event of this channel.
   */
  public static void readNow(Channel channel) {
    Channel.Unsafe unsafe = channel.unsafe();
    if (unsafe instanceof EpollIoHandle epoll) {
      epoll.handle(null, READABLE);
    } else if (unsafe instanceof AbstractNioChannel.NioUnsafe nio) {
      nio.read();
    }
  }

  /** Closes a channel; how the close ends is of no interest to anybody. */
  public static void close(Channel channel) {
    ChannelFuture unused = channel.close();
  }
}
