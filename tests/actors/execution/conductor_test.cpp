#include "tests/support/catch.hpp"
#include "tests/support/local_world.hpp"

namespace troupe::test::conductor_test {

using namespace std::chrono_literals;

namespace {

struct listener final : step_observer {
  int end_count = 0;
  void on_step_ended(caf::execution_unit*) noexcept override { ++end_count; }
};

const char* take_one = R"(
q = FIFOQueue component_types=[i32] shapes=[[]]
get = QueueDequeue(q) component_types=[i32]
fetch get
run
put = QueueEnqueue(q, i32(7))
target put
run
size = QueueSize(q)
fetch size
)";

int size_of_queue(local_world& world, const text_case& test_case) {
  auto size_result = world.play(test_case, 2);
  REQUIRE(size_result);
  return *size_result->front().data<int32_t>();
}

// Steps that ended must not take an element, or enqueue one.
void check_that_no_request_waits(local_world& world, const text_case& sizes, int elements_left) {
  text_case later_case{"q = FIFOQueue component_types=[i32] shapes=[[]] capacity=4\n"
                       "one = QueueEnqueue(q, i32(9))\ntarget one\nrun\n"
                       "out = QueueDequeue(q) component_types=[i32]\nfetch out"};
  for (int i = 0; i < 3 || elements_left > 3; ++i) {
    if (elements_left > 0) {
      REQUIRE(world.play(later_case, 1));
      --elements_left;
    }
    REQUIRE(size_of_queue(world, sizes) == elements_left);
  }
  REQUIRE(world.play(later_case));
  CHECK(size_of_queue(world, sizes) == elements_left + 1);
}

// One step that the test drives itself.
struct driven {
  driven(local_world& world, const std::shared_ptr<prepared_step>& step)
      : program(step->local), running(program->check_out()) {
    REQUIRE(program);
    running->conductor().begin(id, observer, nullptr);
    (void)world;
  }
  void abort(const char* reason) {
    running->conductor().abort(id, failure(error_kind::aborted, reason), nullptr);
  }
  void finish() {
    if (running->conductor().outcome().ok())
      program->check_in(std::move(running));
    else
      running->retire();
    running.reset();
  }
  std::shared_ptr<task_program> program;
  std::shared_ptr<task_instance> running;
  listener observer;
  uint64_t id = next_id++;
  static inline uint64_t next_id = 1;
};

} // namespace

TEST_CASE("a step ends when all its regions have run, and its end is reported once") {
  text_case text{"x = Add(i32(1), i32(2))\nfetch x = i32(3)"};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  driven driven_step{world, *step};
  CHECK(driven_step.observer.end_count == 0);
  world.run();
  CHECK(driven_step.observer.end_count == 1);
  CHECK(driven_step.running->conductor().outcome().ok());
  CHECK(*driven_step.running->conductor().fetches().at(0).data<int32_t>() == 3);
  driven_step.abort("too late");
  CHECK(driven_step.running->conductor().outcome().ok());
  CHECK(driven_step.observer.end_count == 1);
  driven_step.finish();
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("an instance runs one step after the other") {
  text_case text{
      "x = Placeholder dtype=i32 shape=[]\ny = Add(x, i32(1))\nfeed x = i32(1)\nfetch y"};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  for (int i = 0; i < 3; ++i) {
    auto answer = world.start(*step, {tensor::scalar(i)});
    world.run();
    REQUIRE(*answer);
    REQUIRE(**answer);
    CHECK(*(**answer)->fetches.at(0).data<int32_t>() == i + 1);
  }
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("a step that waits for a queue ends when it is aborted, and leaves the queue as it was") {
  text_case text{take_one};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  driven driven_step{world, *step};
  world.run();
  CHECK(driven_step.observer.end_count == 0);
  driven_step.abort("first");
  driven_step.abort("second");
  CHECK(driven_step.observer.end_count == 1);
  CHECK(driven_step.running->conductor().outcome().message() == "first");
  driven_step.finish();
  REQUIRE(world.play(text, 1));
  CHECK(size_of_queue(world, text) == 1);
  auto next = world.play(text);
  REQUIRE(next);
  CHECK(*next->front().data<int32_t>() == 7);
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("a step that fails is not over while one of its regions runs") {
  text_case text{take_one};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  driven driven_step{world, *step};
  CHECK(world.ready() == 1); // the step's first region
  driven_step.abort("early");
  CHECK(driven_step.observer.end_count == 0);
  world.run();
  CHECK(driven_step.observer.end_count == 1);
  driven_step.finish();
  REQUIRE(world.play(text, 1));
  CHECK(size_of_queue(world, text) == 1);
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("an abort of another step does not affect this step") {
  text_case text{take_one};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  driven driven_step{world, *step};
  driven_step.running->conductor().abort(driven_step.id + 1,
                                         failure(error_kind::aborted, "another"), nullptr);
  world.run();
  REQUIRE(world.play(text, 1));
  CHECK(driven_step.observer.end_count == 1);
  CHECK(driven_step.running->conductor().outcome().ok());
  driven_step.finish();
  step = status{error_kind::cancelled, ""};
}

TEST_CASE(
    "in any order of events, a step's end is reported once and an aborted wait takes no element") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 generator{seed};
  text_case text{R"(
q = FIFOQueue component_types=[i32] shapes=[[]] capacity=4
a = QueueDequeue(q) component_types=[i32]
b = QueueDequeue(q) component_types=[i32]
s = Add(a, b)
many = QueueDequeueMany(q, i32(2)) component_types=[i32]
fetch s
fetch many
run
put = QueueEnqueueMany(q, i32[1, 2, 3])
target put
run
size = QueueSize(q)
fetch size
)"};
  for (int round = 0; round < 60; ++round) {
    local_world world;
    auto take_step = world.prepare(text), puts = world.prepare(text, 1);
    REQUIRE(take_step);
    REQUIRE(puts);
    int added = 0, removed = 0;
    bool is_certain = true;
    {
      std::vector<std::unique_ptr<driven>> steps;
      for (int i = 0; i < 6; ++i)
        steps.push_back(std::make_unique<driven>(world, i % 2 == 0 ? *take_step : *puts));
      world.run_shuffled(generator, [&] {
        if (generator() % 12 == 0)
          steps[generator() % steps.size()]->abort("at random");
      });
      for (auto& driven_step : steps)
        driven_step->abort("at the end");
      world.run();
      for (size_t i = 0; i < steps.size(); ++i) {
        CHECK(steps[i]->observer.end_count == 1);
        auto ok = steps[i]->running->conductor().outcome().ok();
        (i % 2 == 0 ? removed : added) += ok ? (i % 2 == 0 ? 4 : 3) : 0;
        is_certain = is_certain && ok;
        steps[i]->finish();
      }
    }
    auto elements_left = size_of_queue(world, text);
    // Elements that arrive after their step ended are returned beyond the capacity.
    CHECK(elements_left <= 4 + 3 * 4);
    if (is_certain)
      CHECK(elements_left == added - removed);
    check_that_no_request_waits(world, text, elements_left);
    take_step = puts = status{error_kind::cancelled, ""};
  }
}

} // namespace troupe::test::conductor_test
