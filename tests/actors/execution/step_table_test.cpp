#include "troupe/actors/execution/step_table.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/local_world.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"

#include <atomic>
#include <thread>

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
  step_id id(uint64_t number) const { return {program->session(), number}; }
  // Begins a step that has been announced.
  std::shared_ptr<task_instance> begin(uint64_t step) {
    running.push_back(program->check_out());
    running.back()->conductor().begin(step, ends, nullptr);
    run();
    return running.back();
  }
  std::shared_ptr<task_instance> add(uint64_t step) {
    REQUIRE(table.announce(id(step)).ok());
    auto in = begin(step);
    REQUIRE(table.attach(id(step), in, nullptr).ok());
    return in;
  }
  void push(uint64_t step, uint32_t key) {
    table.push({.step = id(step), .key = key, .value = tensor::scalar(1)}, nullptr);
  }
};

// Stands for an exchange that announces tensors, or has been announced some.
struct news_reader final : inline_actor {
  explicit news_reader(caf::actor_config& config) : inline_actor(config) {}
  bool receive(caf::mailbox_element& message, caf::execution_unit*) override {
    auto* news = content_if<step_news>(message);
    if (news)
      ++(news->failed ? failed : well);
    return news != nullptr;
  }
  std::atomic<int> well = 0, failed = 0;
};

status gone() { return failure(error_kind::unavailable, "gone"); }

} // namespace

TEST_CASE("a step that was cancelled while it began ends at once") {
  table_world world;
  REQUIRE(world.table.announce(world.id(1)));
  auto in = world.begin(1);
  world.table.abort(world.id(1), gone(), nullptr);
  auto refused = world.table.attach(world.id(1), in, nullptr);
  CHECK(refused.kind() == error_kind::unavailable);
  in->conductor().abort(1, refused, nullptr);
  world.table.end(world.id(1));
  CHECK(world.ends.told == 1);
  CHECK(world.table.size() == 0);
}

TEST_CASE("what comes for a step that is over is dropped") {
  table_world world;
  world.add(1);
  world.table.abort(world.id(1), gone(), nullptr);
  CHECK(world.ends.told == 1);
  world.table.end(world.id(1));
  world.push(1, 0);
  world.table.abort(world.id(1), gone(), nullptr);
  CHECK(world.table.idle());
}

TEST_CASE("a tensor that comes twice finds the program of its step gone") {
  table_world world;
  std::shared_ptr<task_program> program;
  {
    auto step = world.prepare(text_case{"x = Add(i32(1), i32(2))\nfetch x"});
    REQUIRE(step);
    program = (*step)->local;
  }
  REQUIRE(world.table.announce(world.id(1)));
  auto in = program->check_out();
  in->conductor().begin(1, world.ends, nullptr);
  REQUIRE(world.table.attach(world.id(1), in, nullptr).ok());
  world.run();
  REQUIRE(world.ends.told == 1);
  program->check_in(std::move(in));
  std::weak_ptr<task_program> known = program;
  program.reset();
  world.run();
  REQUIRE(known.expired());
  known.reset();    // and its memory
  world.push(1, 0); // the table has not heard of the end yet
  CHECK(world.ends.told == 1);
  world.table.end(world.id(1));
}

TEST_CASE("a tensor with a key that the step does not know fails it, early or late") {
  table_world world;
  world.push(1, 5);
  auto in = world.add(1);
  CHECK(world.ends.told == 1);
  CHECK(in->conductor().outcome().kind() == error_kind::invalid_argument);
  world.table.end(world.id(1));
  auto other = world.add(2);
  world.push(2, 5);
  CHECK(world.ends.told == 2);
  CHECK(other->conductor().outcome().message().find("unknown key 5") != std::string::npos);
  world.table.end(world.id(2));
}

TEST_CASE("a tensor of a loop fails a step that has none") {
  table_world world;
  auto in = world.add(1);
  world.table.push({.step = world.id(1), .key = 0, .value = tensor::scalar(1), .frame = 3},
                   nullptr);
  CHECK(world.ends.told == 1);
  CHECK(in->conductor().outcome().kind() == error_kind::invalid_argument);
  world.table.end(world.id(1));
}

TEST_CASE("a closed table fails all its steps and takes no more") {
  table_world world;
  world.add(1);
  world.add(2);
  REQUIRE(world.table.announce(world.id(3)));
  auto third = world.begin(3);
  world.table.abort_all("/job:ps/task:0", 0, gone(), nullptr); // no partner of theirs
  CHECK(world.ends.told == 0);
  world.table.close(gone(), nullptr);
  CHECK(world.ends.told == 2);
  auto refused = world.table.attach(world.id(3), third, nullptr);
  CHECK(refused.kind() == error_kind::unavailable);
  CHECK(world.table.announce(world.id(4)).kind() == error_kind::unavailable);
  third->conductor().abort(3, refused, nullptr);
}

TEST_CASE("steps of one program end without those of others") {
  table_world world;
  world.add(1);
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

TEST_CASE("what a step announced is not withdrawn because deadlines are looked at while it ends") {
  local_world world;
  step_table table;
  auto [handle, reader] = spawn_inline<news_reader>(world.system());
  std::atomic<bool> over = false;
  std::thread looks{[&, &of = table] {
    while (!over)
      of.expire(step_clock::now(), {"worker", 0}, nullptr);
  }};
  for (uint64_t number = 1; number <= 20'000; ++number) {
    step_id step{7, number};
    REQUIRE(table.announce(step));
    table.watch(step, handle.address());
    table.end(step);
  }
  over = true;
  looks.join();
  CHECK(reader->well == 20'000);
  CHECK(reader->failed == 0);
}

TEST_CASE("what a step announced that ended well is not withdrawn by what comes to fail it") {
  table_world world;
  text_case adds{"x = Add(i32(1), i32(2))\nfetch x"};
  auto step = world.prepare(adds);
  REQUIRE(step);
  auto program = (*step)->local;
  auto [handle, reader] = spawn_inline<news_reader>(world.system());
  for (uint64_t number = 1; number <= 3; ++number) {
    step_id id{program->session(), number};
    REQUIRE(world.table.announce(id));
    auto in = program->check_out();
    in->conductor().begin(number, world.ends, nullptr);
    REQUIRE(world.table.attach(id, in, nullptr).ok());
    world.table.watch(id, handle.address());
    world.run();
    REQUIRE(in->conductor().outcome().ok()); // and the table has not heard of it
    if (number == 1)
      world.table.abort(id, gone(), nullptr);
    else if (number == 2)
      world.table.abort_all(*program, gone(), nullptr);
    else
      world.table.expire(step_clock::time_point::max(), {"worker", 0}, nullptr);
    CHECK(reader->failed == 0);
    world.table.end(id);
    CHECK(reader->failed == 0);
    CHECK(reader->well == static_cast<int>(number));
    program->check_in(std::move(in));
  }
  program.reset();
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("whoever announced a tensor for a step that never came is told, once") {
  local_world world;
  auto now = step_clock::now();
  step_table table{[&] { return now; }};
  auto [handle, reader] = spawn_inline<news_reader>(world.system());
  CHECK(table.expect({7, 1}, handle.address()) == demand::later);
  table.expire(now, {"worker", 0}, nullptr);
  CHECK(reader->well == 0);
  now += std::chrono::minutes{2};
  table.expire(now, {"worker", 0}, nullptr);
  table.expire(now, {"worker", 0}, nullptr);
  CHECK(reader->well == 1);
  CHECK(reader->failed == 0);
  CHECK(table.expect({7, 1}, handle.address()) == demand::never);
}

} // namespace troupe::test::step_table_test
