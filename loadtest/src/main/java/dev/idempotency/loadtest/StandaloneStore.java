package dev.idempotency.loadtest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;

/** One Redis; each gateway has a relay of its own to it. */
final class StandaloneStore implements LabStore {

  private final RedisNode node;
  private final List<Relay> relays = new CopyOnWriteArrayList<>();

  StandaloneStore(Path program, Path folder) throws IOException, InterruptedException {
    node = RedisNode.start(program, folder.resolve("redis"), List.of());
  }

  @Override
  public Hop hop() throws IOException {
    Relay relay = Relay.to(node.port());
    relays.add(relay);
    return new Hop("redis://127.0.0.1:" + relay.port(), relay);
  }

  @Override
  public Child server(RandomGenerator random) {
    return node.process();
  }

  @Override
  public void restart(RandomGenerator random) throws IOException, InterruptedException {
    node.restart(List.of());
  }

  @Override
  public void restartEmpty() throws IOException, InterruptedException {
    node.restartEmpty(List.of());
  }

  @Override
  public void heal() throws IOException, InterruptedException {
    node.process().signal("CONT");
    relays.forEach(Relay::mend);
  }

  @Override
  public void close() throws IOException {
    for (Relay relay : relays) {
      relay.close();
    }
    node.close();
  }
}
