#include "tests/support/catch.hpp"
#include "tests/support/local_world.hpp"

namespace troupe::test::conductor_test {

using namespace std::chrono_literals;

namespace {

struct listener final : step_observer {
  int told = 0;
  void step_ended(caf::execution_unit*) noexcept override { ++told; }
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

int size_of_queue(local_world& world, const text_case& of) {
  auto found = world.play(of, 2);
  REQUIRE(found);
  return *found->front().data<int32_t>();
}

// One step that the test drives itself.
struct driven {
  driven(local_world& world, const std::shared_ptr<prepared_step>& step)
      : program(step->local), in(program->check_out()) {
    REQUIRE(program);
    in->conductor().begin(id, observer, nullptr);
    (void)world;
  }
  void abort(const char* why) {
    in->conductor().abort(id, failure(error_kind::aborted, why), nullptr);
  }
  void finish() {
    if (in->conductor().outcome().ok())
      program->check_in(std::move(in));
    else
      in->retire();
    in.reset();
  }
  std::shared_ptr<task_program> program;
  std::shared_ptr<task_instance> in;
  listener observer;
  uint64_t id = next_id++;
  static inline uint64_t next_id = 1;
};

} // namespace

TEST_CASE("a step ends when all its regions have run, and its end is told once") {
  text_case text{"x = Add(i32(1), i32(2))\nfetch x = i32(3)"};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  driven one{world, *step};
  CHECK(one.observer.told == 0);
  world.run();
  CHECK(one.observer.told == 1);
  CHECK(one.in->conductor().outcome().ok());
  CHECK(*one.in->conductor().fetches().at(0).data<int32_t>() == 3);
  one.abort("too late");
  CHECK(one.in->conductor().outcome().ok());
  CHECK(one.observer.told == 1);
  one.finish();
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("an instance serves one step after the other") {
  text_case text{
      "x = Placeholder dtype=i32 shape=[]\ny = Add(x, i32(1))\nfeed x = i32(1)\nfetch y"};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  for (int i = 0; i < 3; ++i) {
    auto box = world.start(*step, {tensor::scalar(i)});
    world.run();
    REQUIRE(*box);
    REQUIRE(**box);
    CHECK(*(**box)->fetches.at(0).data<int32_t>() == i + 1);
  }
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("a step that waits for a queue ends when it is aborted, and leaves the queue as it was") {
  text_case text{take_one};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  driven one{world, *step};
  world.run();
  CHECK(one.observer.told == 0);
  one.abort("first");
  one.abort("second");
  CHECK(one.observer.told == 1);
  CHECK(one.in->conductor().outcome().message() == "first");
  one.finish();
  REQUIRE(world.play(text, 1));
  CHECK(size_of_queue(world, text) == 1);
  auto next = world.play(text);
  REQUIRE(next);
  CHECK(*next->front().data<int32_t>() == 7);
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("a step that fails is not over while something of it runs") {
  text_case text{take_one};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  driven one{world, *step};
  CHECK(world.ready() == 1); // its first region
  one.abort("early");
  CHECK(one.observer.told == 0);
  world.run();
  CHECK(one.observer.told == 1);
  one.finish();
  REQUIRE(world.play(text, 1));
  CHECK(size_of_queue(world, text) == 1);
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("an abort that is meant for another step leaves this one alone") {
  text_case text{take_one};
  local_world world;
  auto step = world.prepare(text);
  REQUIRE(step);
  driven one{world, *step};
  one.in->conductor().abort(one.id + 1, failure(error_kind::aborted, "another"), nullptr);
  world.run();
  REQUIRE(world.play(text, 1));
  CHECK(one.observer.told == 1);
  CHECK(one.in->conductor().outcome().ok());
  one.finish();
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("in any order of events, a step's end is told once and an aborted wait takes nothing") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
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
    auto takes = world.prepare(text), puts = world.prepare(text, 1);
    REQUIRE(takes);
    REQUIRE(puts);
    int added = 0, taken = 0;
    bool sure = true;
    {
      std::vector<std::unique_ptr<driven>> steps;
      for (int i = 0; i < 6; ++i)
        steps.push_back(std::make_unique<driven>(world, i % 2 == 0 ? *takes : *puts));
      world.run_shuffled(dice, [&] {
        if (dice() % 12 == 0)
          steps[dice() % steps.size()]->abort("at random");
      });
      for (auto& one : steps)
        one->abort("at the end");
      world.run();
      for (size_t i = 0; i < steps.size(); ++i) {
        CHECK(steps[i]->observer.told == 1);
        auto ok = steps[i]->in->conductor().outcome().ok();
        (i % 2 == 0 ? taken : added) += ok ? (i % 2 == 0 ? 4 : 3) : 0;
        sure = sure && ok;
        steps[i]->finish();
      }
    }
    auto left = size_of_queue(world, text);
    CHECK(left <= 4 + 3 * 4); // what comes too late for its step goes back, over the capacity
    if (sure)
      CHECK(left == added - taken);
    // Nobody who has gone may still take something, or fill the queue.
    text_case more{"q = FIFOQueue component_types=[i32] shapes=[[]] capacity=4\n"
                   "one = QueueEnqueue(q, i32(9))\ntarget one\nrun\n"
                   "out = QueueDequeue(q) component_types=[i32]\nfetch out"};
    for (int i = 0; i < 3 || left > 3; ++i) {
      if (left > 0) {
        REQUIRE(world.play(more, 1));
        --left;
      }
      REQUIRE(size_of_queue(world, text) == left);
    }
    REQUIRE(world.play(more));
    CHECK(size_of_queue(world, text) == left + 1);
    takes = puts = status{error_kind::cancelled, ""};
  }
}

} // namespace troupe::test::conductor_test
