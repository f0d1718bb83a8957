package dev.idempotency.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.gateway.exchange.FakeUpstream.Connection;
import dev.idempotency.gateway.exchange.ResponseReceiver.Failure;
import dev.idempotency.gateway.http.Headers;
import dev.idempotency.gateway.http.ResponseHead;
import dev.idempotency.gateway.idempotency.ReserveReply;
import dev.idempotency.gateway.idempotency.StoredOperation.Completed;
import dev.idempotency.gateway.idempotency.StoredOperation.InFlight;
import dev.idempotency.gateway.idempotency.StoredOperation.NotKept;
import dev.idempotency.gateway.idempotency.StoredOperation.OutcomeUnknown;
import dev.idempotency.gateway.idempotency.StoredOperation.State;
import dev.idempotency.gateway.idempotency.StoredResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * However exchanges end: every place of a quota and every byte of memory comes back, and no request
 * is sent twice.
 */
class RandomEndsTest {

  private static final int RUNS = 400;

  @ParameterizedTest
  @ValueSource(longs = {1, 20_000, 7_000_000})
  void everyPlaceComesBackAndNoRequestIsSentTwice(long base) {
    for (long seed = base; seed < base + RUNS; seed++) {
      Run run = new Run(seed);
      try {
        run.play();
        run.endAll();
        run.check();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ", after " + run.played, e);
      }
    }
  }

  /** Counts the places that are held. */
  private static final class Counted implements Quota {
    private int held;

    @Override
    public Answer take(String caller) {
      if (held == 2) {
        return new Answer.Spent(Duration.ofSeconds(1), "two are held");
      }
      held++;
      return new Answer.Place() {
        private boolean over;

        @Override
        public void giveBack() {
          end();
        }

        @Override
        public void end() {
          assertThat(over).as("given back before").isFalse();
          over = true;
          held--;
        }
      };
    }
  }

  /** A client with its request. */
  private static final class Caller {
    private final Stage.Call call;
    private int left;
    private boolean ended;
    private boolean gone;

    Caller(Stage.Call call, int left) {
      this.call = call;
      this.left = left;
    }

    boolean isSending() {
      FakeClient client = call.client();
      return !gone && !ended && client.isBodyWanted() && !client.isBodyPaused();
    }
  }

  /** An exchange with the upstream. */
  private static final class Reply {
    private final Connection connection;
    private boolean begun;
    private boolean overdue;
    private boolean over;

    Reply(Connection connection) {
      this.connection = connection;
    }

    boolean isOpen() {
      return !over && connection.isSent() && !connection.isCancelled();
    }
  }

  private static final class Run {
    private final Random random;
    private final Counted quota = new Counted();
    private final Stage stage;
    private final boolean streams;
    private final List<Caller> callers = new ArrayList<>();
    private final List<Reply> replies = new ArrayList<>();
    private final List<TextChunk> chunks = new ArrayList<>();
    private final List<String> played = new ArrayList<>();

    Run(long seed) {
      random = new Random(seed);
      streams = random.nextBoolean();
      stage = settings().open();
    }

    private Stage.Settings settings() {
      Stage.Settings with =
          Stage.with()
              .callers(new Route.Callers(List.of(), null, null, quota))
              .requestLimit(60)
              .responseLimit(30)
              .budget(random.nextInt(4) == 0 ? 200 : 1 << 20);
      if (streams) {
        with.streamsRequest();
      }
      if (random.nextBoolean()) {
        with.streaming();
      }
      if (random.nextBoolean()) {
        with.retry();
      }
      if (random.nextBoolean()) {
        with.bypass();
      }
      if (random.nextBoolean()) {
        with.patience(Duration.ofSeconds(1));
      }
      return random.nextInt(3) == 0 ? with.observe() : with;
    }

    void play() {
      for (int i = 0; i < 60; i++) {
        step();
      }
    }

    private void step() {
      switch (random.nextInt(12)) {
        case 0, 1 -> ask();
        case 2, 3 -> send();
        case 4 -> leave();
        case 5, 6, 7 -> store();
        case 8 -> connect();
        case 9, 10 -> reply();
        default -> stage.scheduler.advance(Duration.ofMillis(random.nextInt(4000)));
      }
    }

    private void ask() {
      int length = random.nextInt(80);
      boolean announced = random.nextBoolean();
      String key = "k" + random.nextInt(3);
      note("ask " + key + ' ' + length);
      Stage.Call call =
          stage.post(
              "/orders",
              announced ? length : -1,
              "Host",
              "gw.test",
              "Idempotency-Key",
              key,
              "X-Request",
              "r" + callers.size());
      callers.add(new Caller(call, length));
    }

    private void send() {
      Caller caller = oneOf(callers.stream().filter(Caller::isSending).toList());
      if (caller == null) {
        return;
      }
      note("send");
      if (caller.left == 0) {
        caller.ended = true;
        caller.call.exchange().bodyEnd();
      } else {
        int length = 1 + random.nextInt(caller.left);
        caller.left -= length;
        TextChunk chunk = TextChunk.ofLength(length);
        chunks.add(chunk);
        caller.call.exchange().body(chunk);
      }
      caller.call.exchange().flush();
    }

    private void leave() {
      Caller caller = oneOf(callers.stream().filter(one -> !one.gone).toList());
      if (caller != null) {
        note("leave");
        leave(caller);
      }
    }

    private static void leave(Caller caller) {
      caller.gone = true;
      if (!caller.call.exchange().isOver()) {
        caller.call.exchange().clientGone();
      }
    }

    private void store() {
      if (stage.store.open() == 0) {
        return;
      }
      String command = stage.store.oldest();
      int choice = random.nextInt(6);
      note(command + " -> " + choice);
      if (choice == 0) {
        stage.store.fail();
      } else if (choice == 1) {
        stage.store.failNotExecuted();
      } else if (command.equals("find")) {
        found(choice);
      } else if (command.startsWith("reserve") || command.startsWith("takeOver")) {
        claimed(command.startsWith("takeOver"), choice);
      } else if (choice == 2) {
        stage.store.fence(7, state());
      } else {
        stage.store.done();
      }
    }

    private void found(int choice) {
      if (choice == 2) {
        stage.store.reply(Optional.empty());
      } else {
        stage.store.found(1, Stage.fingerprint("x"), state());
      }
    }

    private void claimed(boolean taking, int choice) {
      if (choice == 2) {
        stage.store.existing(1, state());
      } else if (choice == 3) {
        stage.store.existing(1, Stage.fingerprint("x"), state());
      } else if (choice == 4 && taking) {
        stage.store.reply(ReserveReply.GONE);
      } else {
        stage.store.acquire();
      }
    }

    private State state() {
      return switch (random.nextInt(4)) {
        case 0 -> new InFlight(Duration.ofSeconds(2));
        case 1 -> new OutcomeUnknown(random.nextBoolean());
        case 2 -> new NotKept(201);
        default ->
            new Completed(new StoredResponse(201, new Headers(), new byte[20], new Headers()));
      };
    }

    private void connect() {
      if (stage.upstream.waiting() == 0) {
        return;
      }
      int choice = random.nextInt(6);
      note("connect " + choice);
      if (choice == 0) {
        stage.upstream.refuse(Upstream.Refusal.QUEUE_FULL);
      } else if (choice == 1) {
        stage.upstream.connectDead();
      } else {
        replies.add(new Reply(stage.upstream.connect()));
      }
    }

    private void reply() {
      Reply reply = oneOf(replies.stream().filter(Reply::isOpen).toList());
      if (reply == null) {
        return;
      }
      int choice = random.nextInt(6);
      note("reply " + choice);
      ResponseReceiver to = reply.connection.receiver();
      if (choice == 0 && !reply.overdue) {
        reply.overdue = true;
        to.overdue();
      } else if (choice == 1) {
        reply.over = true;
        to.failed(reply.begun ? Failure.CLOSED : oneOf(List.of(Failure.values())));
      } else if (!reply.begun) {
        reply.begun = true;
        int status = List.of(201, 200, 429, 500, 502, 503).get(random.nextInt(6));
        to.head(new ResponseHead(status, new Headers()), -1);
        to.flush();
      } else if (choice < 4) {
        TextChunk chunk = TextChunk.ofLength(1 + random.nextInt(20));
        chunks.add(chunk);
        to.chunk(chunk);
        to.flush();
      } else {
        reply.over = true;
        to.end(new Headers());
        to.flush();
      }
    }

    private <T> T oneOf(List<T> some) {
      return some.isEmpty() ? null : some.get(random.nextInt(some.size()));
    }

    private void note(String step) {
      played.add(step);
    }

    /** Nothing hangs for ever: the clients go or the gateway stops, and all others answer. */
    void endAll() {
      if (random.nextBoolean()) {
        note("abandon");
        stage.exchanges.abandon();
      }
      callers.stream().filter(one -> !one.gone).forEach(Run::leave);
      for (int i = 0; i < 200 && !isQuiet(); i++) {
        if (stage.store.open() > 0) {
          store();
        } else if (stage.upstream.waiting() > 0) {
          stage.upstream.refuse(Upstream.Refusal.UNREACHABLE);
        } else {
          failAll();
          stage.scheduler.advance(Duration.ofSeconds(1));
        }
      }
    }

    private boolean isQuiet() {
      return stage.store.open() == 0
          && stage.upstream.waiting() == 0
          && replies.stream().noneMatch(Reply::isOpen)
          && stage.exchanges.underWay() == 0
          && stage.exchanges.deferredWrites() == 0;
    }

    private void failAll() {
      for (Reply reply : replies) {
        if (reply.isOpen()) {
          reply.over = true;
          reply.connection.receiver().failed(Failure.CLOSED);
        }
      }
    }

    void check() {
      assertThat(stage.heard.bugs()).isEmpty();
      assertThat(isQuiet()).as("quiet").isTrue();
      assertThat(quota.held).as("places").isZero();
      assertThat(stage.budget.used()).as("memory").isZero();
      assertThat(callers).allSatisfy(one -> assertThat(one.call.exchange().isOver()).isTrue());
      assertThat(stage.heard.results()).hasSameSizeAs(callers);
      assertThat(chunks).allSatisfy(chunk -> assertThat(chunk.released()).isEqualTo(1));
      Map<String, Integer> sent = new HashMap<>();
      for (Reply reply : replies) {
        if (reply.connection.isSent()) {
          sent.merge(reply.connection.head().headers().get("X-Request"), 1, Integer::sum);
        }
      }
      assertThat(sent.values()).as("times that a request was sent").allMatch(times -> times == 1);
    }
  }
}
