#include "tests/support/catch.hpp"
#include "tests/support/local_world.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/file_threads.hpp"
#include "troupe/actors/execution/waitable_state.hpp"

namespace troupe::test::waitable_state_test {

using namespace std::chrono_literals;

namespace {

const char* queue = R"(
q = FIFOQueue component_types=[i32] shapes=[[]] capacity=2
get = QueueDequeue(q) component_types=[i32]
fetch get
run
put = QueueEnqueue(q, i32(7))
target put
run
size = QueueSize(q)
fetch size
run
close = QueueClose(q)
target close
run
hasty = QueueDequeue(q) component_types=[i32] timeout_ms=500
fetch hasty
run
all = QueueDequeueMany(q, i32(3)) component_types=[i32]
fetch all
)";
enum { get, put, size, close_it, hasty, three };

struct queue_world : local_world {
  text_case text{queue};
  std::vector<std::shared_ptr<prepared_step>> steps;
  queue_world() {
    for (size_t i = 0; i < text.text.runs.size(); ++i)
      steps.push_back(*prepare(text, i));
  }
  ~queue_world() { steps.clear(); }
  awaited_answer<step_outcome> begin(int step_index, std::chrono::milliseconds timeout = 10s) {
    auto answer = start(steps.at(static_cast<size_t>(step_index)), {}, timeout);
    run();
    return answer;
  }
  int elements() { return *(**begin(size))->fetches.at(0).data<int32_t>(); }
};

status outcome_of(const awaited_answer<step_outcome>& answer) {
  REQUIRE(*answer);
  return **answer ? (**answer)->outcome : (**answer).status();
}

// Keeps the answers to its waits.
class fake_region final : public inline_actor {
public:
  explicit fake_region(caf::actor_config& config) : inline_actor(config) {}
  std::vector<status> outcomes;

private:
  bool receive(caf::mailbox_element& message, caf::execution_unit*) override {
    auto* answer = content_if<wait_answer>(message);
    if (answer)
      outcomes.push_back(std::move(answer->outcome));
    return answer;
  }
};

// A queue without a session, a region that asks it, and monitors.
struct lone_queue {
  actor_world world;
  graph nodes{library()};
  std::shared_ptr<file_threads> files = std::make_shared<file_threads>(0);
  std::shared_ptr<waitable_state> state;
  caf::actor queue_actor, region;
  fake_region* answers = nullptr;
  const node* dequeue = nullptr;

  lone_queue() {
    auto maker = *nodes.add({.op = "FIFOQueue",
                             .name = "q",
                             .attrs = {{"component_types", std::vector<dtype>{dtype::i32}}}});
    dequeue = *nodes.add({.op = "QueueDequeue",
                          .name = "get",
                          .inputs = {{maker, 0}},
                          .attrs = {{"component_types", std::vector<dtype>{dtype::i32}}}});
    state = *waitable_state::declare(*maker, "q");
    queue_actor = state->actor(world.system(), files);
    std::tie(region, answers) = spawn_inline<fake_region>(world.system());
  }
  void ask(uint64_t step) {
    caf::anon_send(
        queue_actor,
        wait_request{.step = {1, step}, .origin = dequeue, .inputs = {}, .region = region});
  }
  struct monitor {
    caf::actor handle; // without one, CAF ends the actor
    std::shared_ptr<std::vector<caf::error>> reasons;
  };
  monitor watch() {
    auto reasons = std::make_shared<std::vector<caf::error>>();
    auto handle = world.system().spawn([reasons,
                                        subject = queue_actor](caf::event_based_actor* self) {
      self->set_down_handler([=](const caf::down_msg& down) { reasons->push_back(down.reason); });
      self->monitor(subject);
      return caf::behavior{[](int) {}};
    });
    world.run();
    return {std::move(handle), reasons};
  }
};

} // namespace

TEST_CASE("a dequeue waits for an element, and gets it as soon as one is enqueued") {
  queue_world world;
  auto get_answer = world.begin(get);
  CHECK(!*get_answer);
  CHECK(outcome_of(world.begin(put)).ok());
  REQUIRE(outcome_of(get_answer).ok());
  CHECK(*(**get_answer)->fetches.at(0).data<int32_t>() == 7);
}

TEST_CASE("a dequeue that times out leaves the queue as it was") {
  queue_world world;
  auto get_answer = world.begin(hasty);
  world.advance_and_run(499ms);
  CHECK(!*get_answer);
  world.advance_and_run(2ms);
  auto outcome = outcome_of(get_answer);
  CHECK(outcome.kind() == error_kind::deadline_exceeded);
  CHECK(outcome.message().find("'hasty'") != std::string::npos);
  CHECK(outcome.message().find("500 ms") != std::string::npos);
  CHECK(outcome_of(world.begin(put)).ok());
  CHECK(world.elements() == 1);
  CHECK(outcome_of(world.begin(hasty)).ok());
}

TEST_CASE("a step whose deadline passes while it waits for a queue leaves the queue as it was") {
  queue_world world;
  auto get_answer = world.begin(get, 1s);
  world.advance_and_run(990ms);
  CHECK(!*get_answer);
  world.advance_and_run(20ms);
  auto outcome = outcome_of(get_answer);
  CHECK(outcome.kind() == error_kind::deadline_exceeded);
  CHECK(outcome.message().find("/job:local/task:0") != std::string::npos);
  world.begin(put);
  CHECK(world.elements() == 1);
}

TEST_CASE("a full queue makes enqueues wait, and serves them in their order") {
  queue_world world;
  world.begin(put);
  world.begin(put);
  auto put_answer = world.begin(put);
  CHECK(!*put_answer);
  CHECK(world.elements() == 2);
  CHECK(outcome_of(world.begin(get)).ok());
  CHECK(outcome_of(put_answer).ok());
  CHECK(world.elements() == 2);
}

TEST_CASE("a dequeue that waits for too many elements does not stop others after it gives up") {
  queue_world world;
  world.begin(put);
  auto three_answer = world.begin(three, 1s);
  auto get_answer = world.begin(get, 10s);
  CHECK(!*three_answer);
  CHECK(!*get_answer);
  world.advance_and_run(1100ms);
  CHECK(outcome_of(three_answer).kind() == error_kind::deadline_exceeded);
  CHECK(outcome_of(get_answer).ok());
  CHECK(world.elements() == 0);
}

TEST_CASE("closing a queue ends dequeues that wait for elements that will not come") {
  queue_world world;
  auto get_answer = world.begin(get);
  CHECK(outcome_of(world.begin(close_it)).ok());
  auto outcome = outcome_of(get_answer);
  CHECK(outcome.kind() == error_kind::out_of_range);
  CHECK(outcome.message().find("QueueDequeue 'get'") != std::string::npos);
  CHECK(outcome_of(world.begin(put)).kind() == error_kind::cancelled);
}

TEST_CASE("an element that a failed step has taken is returned to its place") {
  local_world world;
  text_case text{R"(
q = FIFOQueue component_types=[i32] shapes=[[]]
put = QueueEnqueueMany(q, i32[1, 2, 3, 4])
target put
run
get = QueueDequeue(q) component_types=[i32]
both = QueueDequeueMany(q, i32(2), ^get) component_types=[i32]
small = Less(get, i32(0))
fails = Assert(small, get, ^both)
target fails
run
dropped = QueueDequeue(q) component_types=[i32] drop_if_step_fails=true
too_small = Less(dropped, i32(0))
fails_too = Assert(too_small, dropped)
target fails_too
run
fetch get
)"};
  std::vector<std::shared_ptr<prepared_step>> steps;
  for (size_t i = 0; i < text.text.runs.size(); ++i)
    steps.push_back(*world.prepare(text, i));
  auto run = [&](size_t step_index) {
    auto answer = world.start(steps.at(step_index), {}, 10s);
    world.run();
    return answer;
  };
  CHECK(outcome_of(run(0)).ok());
  CHECK(outcome_of(run(1)).kind() == error_kind::invalid_argument);
  CHECK(outcome_of(run(2)).kind() == error_kind::invalid_argument);
  for (int expected : {2, 3, 4}) { // the first element was dropped
    auto answer = run(3);
    REQUIRE(outcome_of(answer).ok());
    CHECK(*(**answer)->fetches.at(0).data<int32_t>() == expected);
  }
  steps.clear();
}

TEST_CASE("a step that fails releases its lock, and the next step gets it") {
  local_world world;
  text_case text{R"(
m = MutexV2
lock = MutexLock(m)
fails = Assert(bool(false), i32(1), ^lock)
target fails
run
target lock
run
free = ConsumeMutexLock(lock)
target free
)"};
  for (size_t step_index : {0, 1, 2, 1, 0, 2}) {
    auto step = *world.prepare(text, step_index);
    auto answer = world.start(step, {}, 10s);
    world.run();
    CHECK(outcome_of(answer).ok() == (step_index != 0));
  }
}

TEST_CASE("a failed step of a reader takes no file name from the next step") {
  local_world world;
  text_case text{R"(
names = FIFOQueue component_types=[string]
r = IdentityReader
a = ReaderRead(r, names)
b = ReaderRead(r, names)
fetch a:0
fetch b:0
run
bad = QueueEnqueue(names, string["x", "y"])
target bad
run
good = QueueEnqueue(names, string("z"))
target good
run
size = QueueSize(names)
fetch size
)"};
  enum { both, no_name, name, left };
  auto step = world.prepare(text, both);
  REQUIRE(step);
  auto answer = world.start(*step);
  world.run();
  REQUIRE(world.play(text, no_name));
  CHECK(outcome_of(answer).kind() == error_kind::invalid_argument);
  REQUIRE(world.play(text, name));
  CHECK(*world.play(text, left)->at(0).data<int32_t>() == 1);
  step->reset();
}

TEST_CASE("a step that ends by its deadline gives back the elements that it was given meanwhile") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    queue_world world;
    std::mt19937 generator{seed};
    auto get_answer = world.begin(get, 1s);
    auto put_answer = world.start(world.steps[put]);
    auto late_event = generator() % 12;
    world.run_shuffled(generator, [&] {
      if (late_event-- == 0)
        world.advance(1001ms);
    });
    world.run();
    INFO(seed);
    CHECK(world.elements() ==
          (outcome_of(put_answer).ok() ? 1 : 0) - (outcome_of(get_answer).ok() ? 1 : 0));
  }
}

TEST_CASE("an exit message ends a queue: monitors get the reason, and all requests an answer") {
  for (const auto& [reason, text] :
       {std::pair{caf::make_error(caf::exit_reason::user_shutdown), "its task shuts down"},
        std::pair{caf::make_error(caf::exit_reason::kill), "kill"},
        std::pair{to_caf(failure(error_kind::internal, "bad sector")), "bad sector"}}) {
    CAPTURE(text);
    lone_queue lone;
    auto first = lone.watch(), second = lone.watch();
    lone.ask(1);
    CHECK(lone.answers->outcomes.empty());
    caf::anon_send(lone.queue_actor, caf::exit_msg{{}, reason});
    REQUIRE(lone.answers->outcomes.size() == 1);
    CHECK(lone.answers->outcomes[0].kind() == error_kind::cancelled);
    CHECK(lone.answers->outcomes[0].message().find(text) != std::string::npos);
    lone.world.run();
    for (const auto& monitor : {first, second, lone.watch()}) { // the last one came too late
      REQUIRE(monitor.reasons->size() == 1);
      CHECK(monitor.reasons->front() == reason);
    }
    lone.ask(2);
    REQUIRE(lone.answers->outcomes.size() == 2);
    CHECK(lone.answers->outcomes[1].message() == lone.answers->outcomes[0].message());
    // The first reason counts, and a reset does not revive the queue.
    caf::anon_send_exit(lone.queue_actor, caf::exit_reason::unknown);
    lone.state->clear();
    lone.ask(3);
    REQUIRE(lone.answers->outcomes.size() == 3);
    CHECK(lone.answers->outcomes[2].message() == lone.answers->outcomes[0].message());
  }
}

TEST_CASE("an exit message without a reason ends no queue") {
  lone_queue lone;
  auto monitor = lone.watch();
  caf::anon_send(lone.queue_actor, caf::exit_msg{{}, {}});
  lone.ask(1);
  lone.world.run();
  CHECK(lone.answers->outcomes.empty());
  CHECK(monitor.reasons->empty());
  caf::anon_send_exit(lone.queue_actor, caf::exit_reason::user_shutdown);
  lone.world.run();
  CHECK(monitor.reasons->size() == 1);
}

TEST_CASE("closing a session ends its steps, also those that wait for a queue") {
  queue_world world;
  auto get_answer = world.begin(get);
  auto timed = world.begin(hasty);
  CHECK(!*get_answer);
  world.close();
  CHECK(outcome_of(get_answer).kind() == error_kind::cancelled);
  CHECK(outcome_of(timed).kind() == error_kind::cancelled);
}

} // namespace troupe::test::waitable_state_test
