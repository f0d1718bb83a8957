package dev.idempotency.gateway.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class in which a buffer was collected that nobody had released. Registered for all
 * classes, so that it is in place before the first buffer is made.
 */
public final class Leaks implements BeforeAllCallback, AfterAllCallback {

  private static final List<String> SEEN = new CopyOnWriteArrayList<>();

  static {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(
        new ResourceLeakDetectorFactory() {
          @Override
          @Deprecated
          public <T> ResourceLeakDetector<T> newResourceLeakDetector(
              Class<T> resource, int samplingInterval, long maxActive) {
            return new Recording<>(resource, samplingInterval);
          }
        });
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    // Its class is loaded, and with it the detector is in place before the first buffer.
  }

  @Override
  public void afterAll(ExtensionContext context) {
    for (int i = 0; i < 3; i++) {
      System.gc();
      // The detector looks at what was collected when the next buffer is made.
      io.netty.buffer.ByteBufAllocator.DEFAULT.directBuffer(16).release();
    }
    assertThat(SEEN).as("leaked buffers").isEmpty();
  }

  private static final class Recording<T> extends ResourceLeakDetector<T> {
    Recording(Class<?> resource, int samplingInterval) {
      super(resource, samplingInterval);
    }

    @Override
    protected void reportTracedLeak(String type, String records) {
      SEEN.add(type + records);
      super.reportTracedLeak(type, records);
    }

    @Override
    protected void reportUntracedLeak(String type) {
      SEEN.add(type);
      super.reportUntracedLeak(type);
    }
  }
}
