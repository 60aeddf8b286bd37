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
  int end_count = 0;
  void on_step_ended(caf::execution_unit*) noexcept override { ++end_count; }
};

// Steps that wait for a queue until they are aborted.
struct table_world : local_world {
  text_case text{"q = FIFOQueue component_types=[i32]\n"
                 "get = QueueDequeue(q) component_types=[i32]\nfetch get"};
  step_table table;
  std::shared_ptr<task_program> program;
  std::vector<std::shared_ptr<task_instance>> running;
  listener end_listener;

  table_world() { program = (*prepare(text))->local; }
  ~table_world() {
    table.close(failure(error_kind::cancelled, "the test is over"), nullptr);
    run();
    for (auto& running_step : running)
      running_step->retire();
    running.clear();
    program.reset();
  }
  step_id id(uint64_t number) const { return {program->session(), number}; }
  // Begins an announced step.
  std::shared_ptr<task_instance> begin(uint64_t step) {
    running.push_back(program->check_out());
    running.back()->conductor().begin(step, end_listener, nullptr);
    run();
    return running.back();
  }
  std::shared_ptr<task_instance> add(uint64_t step) {
    REQUIRE(table.admit(id(step)).ok());
    auto running_step = begin(step);
    REQUIRE(table.deliver_early_tensors(id(step), running_step, nullptr).ok());
    return running_step;
  }
  void push(uint64_t step, uint32_t key) {
    table.deliver({.step = id(step), .key = key, .value = tensor::scalar(1)}, nullptr);
  }
};

// Replaces an exchange that has announced tensors, or has received announcements.
struct fake_exchange final : inline_actor {
  explicit fake_exchange(caf::actor_config& config) : inline_actor(config) {}
  bool receive(caf::mailbox_element& message, caf::execution_unit*) override {
    auto* step_message = content_if<step_news>(message);
    if (step_message)
      ++(step_message->failed ? failed : succeeded);
    return step_message != nullptr;
  }
  std::atomic<int> succeeded = 0, failed = 0;
};

status gone_failure() { return failure(error_kind::unavailable, "gone"); }

} // namespace

TEST_CASE("a step that was cancelled while it began ends at once") {
  table_world world;
  REQUIRE(world.table.admit(world.id(1)));
  auto running_step = world.begin(1);
  world.table.abort(world.id(1), gone_failure(), nullptr);
  auto refused = world.table.deliver_early_tensors(world.id(1), running_step, nullptr);
  CHECK(refused.kind() == error_kind::unavailable);
  running_step->conductor().abort(1, refused, nullptr);
  world.table.end(world.id(1));
  CHECK(world.end_listener.end_count == 1);
  CHECK(world.table.size() == 0);
}

TEST_CASE("messages for a step that is over are dropped") {
  table_world world;
  world.add(1);
  world.table.abort(world.id(1), gone_failure(), nullptr);
  CHECK(world.end_listener.end_count == 1);
  world.table.end(world.id(1));
  world.push(1, 0);
  world.table.abort(world.id(1), gone_failure(), nullptr);
  CHECK(world.table.idle());
}

TEST_CASE("a tensor that arrives twice finds the program of its step gone") {
  table_world world;
  std::shared_ptr<task_program> program;
  {
    auto step = world.prepare(text_case{"x = Add(i32(1), i32(2))\nfetch x"});
    REQUIRE(step);
    program = (*step)->local;
  }
  REQUIRE(world.table.admit(world.id(1)));
  auto running_step = program->check_out();
  running_step->conductor().begin(1, world.end_listener, nullptr);
  REQUIRE(world.table.deliver_early_tensors(world.id(1), running_step, nullptr).ok());
  world.run();
  REQUIRE(world.end_listener.end_count == 1);
  program->check_in(std::move(running_step));
  std::weak_ptr<task_program> known = program;
  program.reset();
  world.run();
  REQUIRE(known.expired());
  known.reset();    // and its memory
  world.push(1, 0); // the table has not been notified of the end
  CHECK(world.end_listener.end_count == 1);
  world.table.end(world.id(1));
}

TEST_CASE("a tensor with an unknown key fails its step, whether it arrives early or late") {
  table_world world;
  world.push(1, 5);
  auto first_running = world.add(1);
  CHECK(world.end_listener.end_count == 1);
  CHECK(first_running->conductor().outcome().kind() == error_kind::invalid_argument);
  world.table.end(world.id(1));
  auto second_running = world.add(2);
  world.push(2, 5);
  CHECK(world.end_listener.end_count == 2);
  CHECK(second_running->conductor().outcome().message().find("unknown key 5") != std::string::npos);
  world.table.end(world.id(2));
}

TEST_CASE("a tensor of a loop fails a step that has no loop") {
  table_world world;
  auto running_step = world.add(1);
  world.table.deliver({.step = world.id(1), .key = 0, .value = tensor::scalar(1), .frame = 3},
                      nullptr);
  CHECK(world.end_listener.end_count == 1);
  CHECK(running_step->conductor().outcome().kind() == error_kind::invalid_argument);
  world.table.end(world.id(1));
}

TEST_CASE("a closed table fails all its steps and admits no more") {
  table_world world;
  world.add(1);
  world.add(2);
  REQUIRE(world.table.admit(world.id(3)));
  auto third = world.begin(3);
  // A task that is no partner of these steps.
  world.table.abort_all("/job:ps/task:0", 0, gone_failure(), nullptr);
  CHECK(world.end_listener.end_count == 0);
  world.table.close(gone_failure(), nullptr);
  CHECK(world.end_listener.end_count == 2);
  auto refused = world.table.deliver_early_tensors(world.id(3), third, nullptr);
  CHECK(refused.kind() == error_kind::unavailable);
  CHECK(world.table.admit(world.id(4)).kind() == error_kind::unavailable);
  third->conductor().abort(3, refused, nullptr);
}

TEST_CASE("steps of one program end independently of each other") {
  table_world world;
  world.add(1);
  text_case other_case{"r = FIFOQueue component_types=[i32]\n"
                       "get = QueueDequeue(r) component_types=[i32]\nfetch get"};
  auto step = world.prepare(other_case);
  REQUIRE(step);
  world.table.abort_all(*(*step)->local, gone_failure(), nullptr);
  CHECK(world.end_listener.end_count == 0);
  world.table.abort_all(*world.program, gone_failure(), nullptr);
  CHECK(world.end_listener.end_count == 1);
  step = status{error_kind::cancelled, ""};
}

TEST_CASE(
    "an announced tensor is not withdrawn because deadlines are checked while its step ends") {
  local_world world;
  step_table table;
  auto [handle, reader] = spawn_inline<fake_exchange>(world.system());
  std::atomic<bool> is_over = false;
  std::thread reader_thread{[&, &shared_table = table] {
    while (!is_over)
      shared_table.expire(step_clock::now(), {"worker", 0}, nullptr);
  }};
  for (uint64_t number = 1; number <= 20'000; ++number) {
    step_id step{7, number};
    REQUIRE(table.admit(step));
    table.watch(step, handle.address());
    table.end(step);
  }
  is_over = true;
  reader_thread.join();
  CHECK(reader->succeeded == 20'000);
  CHECK(reader->failed == 0);
}

TEST_CASE("an announced tensor of a step that succeeded is not withdrawn by a later failure") {
  table_world world;
  text_case adds{"x = Add(i32(1), i32(2))\nfetch x"};
  auto step = world.prepare(adds);
  REQUIRE(step);
  auto program = (*step)->local;
  auto [handle, reader] = spawn_inline<fake_exchange>(world.system());
  for (uint64_t number = 1; number <= 3; ++number) {
    step_id id{program->session(), number};
    REQUIRE(world.table.admit(id));
    auto running_step = program->check_out();
    running_step->conductor().begin(number, world.end_listener, nullptr);
    REQUIRE(world.table.deliver_early_tensors(id, running_step, nullptr).ok());
    world.table.watch(id, handle.address());
    world.run();
    REQUIRE(running_step->conductor().outcome().ok()); // and the table has not been notified
    if (number == 1)
      world.table.abort(id, gone_failure(), nullptr);
    else if (number == 2)
      world.table.abort_all(*program, gone_failure(), nullptr);
    else
      world.table.expire(step_clock::time_point::max(), {"worker", 0}, nullptr);
    CHECK(reader->failed == 0);
    world.table.end(id);
    CHECK(reader->failed == 0);
    CHECK(reader->succeeded == static_cast<int>(number));
    program->check_in(std::move(running_step));
  }
  program.reset();
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("the announcer of a tensor for a step that never came is notified once") {
  local_world world;
  auto now = step_clock::now();
  step_table table{[&] { return now; }};
  auto [handle, reader] = spawn_inline<fake_exchange>(world.system());
  CHECK(table.expect({7, 1}, handle.address()) == fetch_decision::later);
  table.expire(now, {"worker", 0}, nullptr);
  CHECK(reader->succeeded == 0);
  now += std::chrono::minutes{2};
  table.expire(now, {"worker", 0}, nullptr);
  table.expire(now, {"worker", 0}, nullptr);
  CHECK(reader->succeeded == 1);
  CHECK(reader->failed == 0);
  CHECK(table.expect({7, 1}, handle.address()) == fetch_decision::never);
}

} // namespace troupe::test::step_table_test
