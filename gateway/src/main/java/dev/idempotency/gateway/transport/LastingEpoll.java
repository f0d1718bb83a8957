package dev.idempotency.gateway.transport;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;

/**
 * Epoll that keeps a channel which waits for nothing.
 *
 * <p>Netty (4.2.18, 4.2.20) takes such a channel out of epoll and does not put it back: a client
 * that shut its sending side could then not be sent more than fits into the socket's buffer.
 */
final class LastingEpoll implements IoHandler {

  /** Nothing but errors, and these once. */
  private static final EpollIoOps ALMOST_NOTHING = EpollIoOps.EPOLLET;

  private final IoHandler epoll;

  private LastingEpoll(IoHandler epoll) {
    this.epoll = epoll;
  }

  static IoHandlerFactory factory() {
    IoHandlerFactory factory = EpollIoHandler.newFactory();
    return executor -> new LastingEpoll(factory.newHandler(executor));
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    return new Registration(epoll.register(handle));
  }

  private record Registration(IoRegistration epoll) implements IoRegistration {

    @Override
    public long submit(IoOps ops) {
      return epoll.submit(ops.equals(EpollIoOps.NONE) ? ALMOST_NOTHING : ops);
    }

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // as the interface has it
    public <T> T attachment() {
      return epoll.attachment();
    }

    @Override
    public boolean isValid() {
      return epoll.isValid();
    }

    @Override
    public boolean cancel() {
      return epoll.cancel();
    }
  }

  @Override
  public void initialize() {
    epoll.initialize();
  }

  @Override
  public int run(IoHandlerContext context) {
    return epoll.run(context);
  }

  @Override
  public void prepareToDestroy() {
    epoll.prepareToDestroy();
  }

  @Override
  public void destroy() {
    epoll.destroy();
  }

  @Override
  public void wakeup() {
    epoll.wakeup();
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return epoll.isCompatible(handleType);
  }
}
