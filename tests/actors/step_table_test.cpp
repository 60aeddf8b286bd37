#include "troupe/actors/step_table.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/local_world.hpp"

namespace troupe::test::step_table_test {

namespace {

struct listener final : step_observer {
  int told = 0;
  void step_ended(caf::execution_unit*) noexcept override { ++told; }
};

// Steps that wait for a queue until they are aborted.
struct table_world : local_world {
  text_case text{"q = FIFOQueue component_types=[i32]\n"
                 "get = QueueDequeue(q) component_types=[i32]\nfetch get"};
  step_table table;
  std::shared_ptr<task_program> program;
  std::vector<std::shared_ptr<task_instance>> running;
  listener ends;

  table_world() { program = (*prepare(text))->local; }
  ~table_world() {
    table.close(failure(error_kind::cancelled, "the test is over"), nullptr);
    run();
    for (auto& one : running)
      one->retire();
    running.clear();
    program.reset();
  }
  std::shared_ptr<task_instance> begin(uint64_t step) {
    running.push_back(program->check_out());
    running.back()->conductor().begin(step, ends, nullptr);
    run();
    return running.back();
  }
};

status gone() { return failure(error_kind::unavailable, "gone"); }

} // namespace

TEST_CASE("a step that was cancelled before it came is told so when it comes, once") {
  table_world world;
  world.table.abort(1, gone(), nullptr);
  world.table.abort(1, failure(error_kind::internal, "later"), nullptr);
  auto in = world.begin(1);
  auto refused = world.table.add(1, in, nullptr);
  CHECK(!refused.ok());
  in->conductor().abort(1, refused, nullptr);
  CHECK(world.ends.told == 1);
  CHECK(world.table.size() == 0);
}

TEST_CASE("two steps may not have one id") {
  table_world world;
  auto first = world.begin(1), second = world.begin(1);
  CHECK(world.table.add(1, first, nullptr).ok());
  CHECK(world.table.add(1, second, nullptr).kind() == error_kind::invalid_argument);
  CHECK(world.table.size() == 1);
  second->conductor().abort(1, gone(), nullptr);
}

TEST_CASE("what comes for a step that is over is dropped") {
  table_world world;
  auto in = world.begin(1);
  REQUIRE(world.table.add(1, in, nullptr));
  world.table.abort(1, gone(), nullptr);
  CHECK(world.ends.told == 1);
  world.table.remove(1);
  world.table.push({.step = 1, .key = 0, .dead = false, .value = tensor::scalar(1)}, nullptr);
  world.table.abort(1, gone(), nullptr);
  CHECK(world.table.add(1, in, nullptr).ok()); // it was quick
  CHECK(world.table.size() == 0);
}

TEST_CASE("a tensor that nobody knows fails the step that it came for") {
  table_world world;
  world.table.push({.step = 1, .key = 5, .dead = false, .value = tensor::scalar(1)}, nullptr);
  auto in = world.begin(1);
  CHECK(world.table.add(1, in, nullptr).ok());
  CHECK(world.ends.told == 1);
  CHECK(in->conductor().outcome().kind() == error_kind::invalid_argument);
  world.table.remove(1);
}

TEST_CASE("a tensor that comes twice fails its step") {
  table_world world;
  for (int i = 0; i < 2; ++i)
    world.table.push({.step = 1, .key = 5, .dead = false, .value = tensor::scalar(1)}, nullptr);
  auto in = world.begin(1);
  auto refused = world.table.add(1, in, nullptr);
  CHECK(refused.kind() == error_kind::invalid_argument);
  CHECK(refused.message().find("twice") != std::string::npos);
  in->conductor().abort(1, refused, nullptr);
  world.table.remove(1);
}

TEST_CASE("a closed table fails all its steps and takes no more") {
  table_world world;
  auto first = world.begin(1), second = world.begin(2), third = world.begin(3);
  REQUIRE(world.table.add(1, first, nullptr));
  REQUIRE(world.table.add(2, second, nullptr));
  world.table.abort_all("/job:ps/task:0", gone(), nullptr); // no partner of theirs
  CHECK(world.ends.told == 0);
  world.table.close(gone(), nullptr);
  CHECK(world.ends.told == 2);
  auto refused = world.table.add(3, third, nullptr);
  CHECK(refused.kind() == error_kind::unavailable);
  third->conductor().abort(3, refused, nullptr);
}

TEST_CASE("steps of one program end without those of others") {
  table_world world;
  auto mine = world.begin(1);
  REQUIRE(world.table.add(1, mine, nullptr));
  text_case other{"r = FIFOQueue component_types=[i32]\n"
                  "get = QueueDequeue(r) component_types=[i32]\nfetch get"};
  auto step = world.prepare(other);
  REQUIRE(step);
  world.table.abort_all(*(*step)->local, gone(), nullptr);
  CHECK(world.ends.told == 0);
  world.table.abort_all(*world.program, gone(), nullptr);
  CHECK(world.ends.told == 1);
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("early messages of steps that never come are bounded") {
  table_world world;
  for (uint64_t step = 10; step < 20'000; ++step) {
    world.table.abort(step, gone(), nullptr);
    if (step % 16 == 0)
      world.table.push({.step = step, .key = 0, .dead = false, .value = tensor::scalar(1)},
                       nullptr);
  }
  auto in = world.begin(1);
  CHECK(world.table.add(1, in, nullptr).ok());
  CHECK(world.table.size() == 1);
}

TEST_CASE("a tensor that finds no room before its step fails that step, and says so") {
  table_world world;
  for (uint64_t step = 10; step < 10'000; ++step)
    world.table.push({.step = step, .key = 0, .dead = false, .value = tensor::scalar(1)}, nullptr);
  auto in = world.begin(9'999);
  auto refused = world.table.add(9'999, in, nullptr);
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK(refused.message().find("4096") != std::string::npos);
  in->conductor().abort(9'999, refused, nullptr);
}

TEST_CASE("when there is no room to note a refusal either, steps that come fail for a while") {
  table_world world;
  for (uint64_t step = 10; step < 80'000; ++step)
    world.table.abort(step, gone(), nullptr);
  auto in = world.begin(1);
  auto refused = world.table.add(1, in, nullptr);
  CHECK(refused.kind() == error_kind::resource_exhausted);
  in->conductor().abort(1, refused, nullptr);
}

} // namespace troupe::test::step_table_test
