package dev.idempotency.gateway.operations;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.ExchangeListener;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListenersTest {

  private final List<String> heard = new ArrayList<>();

  private ExchangeListener hearing(String name) {
    return (ExchangeListener)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ExchangeListener.class},
            (proxy, method, arguments) -> {
              heard.add(name + " " + method.getName());
              return null;
            });
  }

  @Test
  void everyEventReachesAllInOrder() throws ReflectiveOperationException {
    ExchangeListener both = Listeners.of(hearing("first"), hearing("second"));

    for (Method event : ExchangeListener.class.getMethods()) {
      heard.clear();
      Object[] arguments = new Object[event.getParameterCount()];
      for (int i = 0; i < arguments.length; i++) {
        arguments[i] = event.getParameterTypes()[i] == boolean.class ? Boolean.TRUE : null;
      }
      event.invoke(both, arguments);

      assertThat(heard).containsExactly("first " + event.getName(), "second " + event.getName());
    }
  }

  @Test
  void oneListenerNeedsNoWrapper() {
    ExchangeListener only = hearing("only");
    assertThat(Listeners.of(only)).isSameAs(only);
  }
}
