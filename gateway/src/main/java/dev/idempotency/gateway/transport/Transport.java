package dev.idempotency.gateway.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocal;

/** The operating system's way to do network I/O: epoll where there is one, else NIO. */
public enum Transport {
  /** Linux, through the native library. */
  EPOLL,
  /** Every platform. */
  NIO;

  /** TCP_ESTABLISHED in the kernel; a peer that has closed makes it TCP_CLOSE_WAIT. */
  private static final int ESTABLISHED = 1;

  private static final FastThreadLocal<EpollTcpInfo> TCP_INFO =
      new FastThreadLocal<>() {
        @Override
        protected EpollTcpInfo initialValue() {
          return new EpollTcpInfo();
        }
      };

  /** The best one here. */
  public static Transport best() {
    return Epoll.isAvailable() ? EPOLL : NIO;
  }

  /** Event loops, one thread each. */
  public MultiThreadIoEventLoopGroup group(int threads, String name) {
    IoHandlerFactory factory =
        this == EPOLL ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
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
   * system: a close that waits in the receive buffer has fired no event yet.
   *
   * <p>Event loop of the channel only.
   */
  public static boolean isQuietAndOpen(Channel channel) {
    if (!channel.isActive()) {
      return false;
    }
    if (channel instanceof EpollSocketChannel epoll) {
      EpollTcpInfo info = TCP_INFO.get();
      epoll.tcpInfo(info);
      return info.state() == ESTABLISHED;
    }
    return !(channel instanceof PeekableNioChannel nio) || nio.isQuietAndOpen();
  }

  /** Closes a channel; how the close ends is of no interest to anybody. */
  public static void close(Channel channel) {
    ChannelFuture unused = channel.close();
  }
}
