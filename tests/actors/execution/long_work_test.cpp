// Nodes with long work, which runs on a thread of its own (runtime/graph/long_work.hpp).
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/ops/all.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include <future>
#include <thread>

namespace troupe::test::long_work_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

// Controls an op: the op blocks until the test opens the gate.
struct gate {
  std::promise<void> entered, opened;
  std::atomic<bool> was_stopped = false;
  std::atomic<int> begun_count = 0;
};
gate* now_at = nullptr;

result<std::vector<tensor>> wait_at_gate(const work_context& context) {
  auto& current_gate = *now_at;
  if (current_gate.begun_count++ == 0)
    current_gate.entered.set_value();
  auto open = current_gate.opened.get_future();
  while (open.wait_for(1ms) == std::future_status::timeout)
    if (context.stopped()) {
      current_gate.was_stopped = true;
      return failure(error_kind::cancelled, "stopped");
    }
  return std::vector{context.inputs[0]};
}

result<std::vector<tensor>> fail(const work_context& context) {
  return failure(error_kind::data_loss, "the file has ", context.inputs[0], " in it");
}

result<std::vector<tensor>> give_too_much(const work_context&) {
  return std::vector{tensor::scalar(1), tensor::scalar(2)};
}

constexpr op_def op_called(std::string_view name) {
  return {.name = name,
          .doc = "Only tests use it.",
          .inputs = {{"x", "i32"}},
          .outputs = {{"y", "i32"}},
          .effects = effect::stateful | effect::blocking,
          .infer = infer::same_as_input,
          .no_gradient = "none"};
}

const registry& working_library() {
  static constexpr auto wait_op = op_called("TestWait"), fails = op_called("TestFail"),
                        too_much_op = op_called("TestTooMuch"), idle = op_called("TestIdle");
  static const registry test_ops = [] {
    registry test_registry;
    auto ok = ops::add_all(test_registry).ok();
    for (const auto* op : {&wait_op, &fails, &too_much_op, &idle})
      ok &= test_registry.add(*op).ok();
    ok &= test_registry.add(work_def{"TestWait", wait_at_gate}).ok();
    ok &= test_registry.add(work_def{"TestFail", fail}).ok();
    ok &= test_registry.add(work_def{"TestTooMuch", give_too_much}).ok();
    if (!ok)
      throw std::logic_error{"the library for tests"};
    return test_registry;
  }();
  return test_ops;
}

struct world {
  watchdog watch;
  gate test_gate;
  graph nodes{working_library()};
  std::unique_ptr<client> local;
  node* x = nullptr;

  world() {
    now_at = &test_gate;
    client_options options;
    options.ops = &working_library();
    options.inter_op_threads = 1;
    options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
    local = std::move(*client::local(options));
    x = *nodes.add(
        {.op = "Const",
         .name = "x",
         .attrs = {{"value", attr_value{tensor::scalar(7)}}, {"dtype", attr_value{dtype::i32}}}});
  }

  node* add(const char* op) { return *nodes.add({.op = op, .name = "it", .inputs = {{x, 0}}}); }

  result<std::vector<tensor>> run(node* target, std::chrono::milliseconds timeout = 20s,
                                  std::vector<edge> fed = {}, std::vector<tensor> feeds = {}) {
    auto deadline = step_clock::now() + timeout;
    step_signature signature{.feeds = std::move(fed), .fetches = {{target, 0}}, .targets = {}};
    TROUPE_ASSIGN(auto step, local->prepare(nodes, signature, deadline));
    return local->run(*step, std::move(feeds), deadline);
  }
};

} // namespace

TEST_CASE("other steps of a session with one thread continue while a node's work takes long") {
  world fixture;
  auto* wait_node = fixture.add("TestWait");
  auto slow = std::async(std::launch::async, [&] { return fixture.run(wait_node); });
  fixture.test_gate.entered.get_future().wait();
  for (int i = 0; i < 10; ++i)
    CHECK(fixture.run(fixture.x));
  CHECK(slow.wait_for(0s) == std::future_status::timeout);
  fixture.test_gate.opened.set_value();
  auto outcome = slow.get();
  REQUIRE(outcome);
  CHECK(*outcome->at(0).data<int32_t>() == 7);
}

TEST_CASE(
    "a step that reaches its deadline does not wait for its long work, which is asked to stop") {
  world fixture;
  auto* wait_node = fixture.add("TestWait");
  auto outcome = fixture.run(wait_node, 1s);
  CHECK(outcome.status().kind() == error_kind::deadline_exceeded);
  CHECK_THAT(outcome.status().message(), Contains("'it'") && Contains("reads or writes files"));
  fixture.local.reset(); // waits for the thread
  CHECK(fixture.test_gate.was_stopped);
}

TEST_CASE("queued work of a failed step keeps none of its tensors") {
  world fixture;
  auto* wait_node = fixture.add("TestWait");
  auto* fed = *fixture.nodes.add(
      {.op = "Placeholder",
       .attrs = {{"dtype", attr_value{dtype::i32}}, {"shape", partial_shape(shape{})}}});
  auto* next = *fixture.nodes.add({.op = "TestWait", .inputs = {{fed, 0}}});
  auto slow = std::async(std::launch::async, [&] { return fixture.run(wait_node); });
  fixture.test_gate.entered.get_future().wait();
  auto value = tensor::scalar(8);
  CHECK(fixture.run(next, 100ms, {{fed, 0}}, {value}).status().kind() ==
        error_kind::deadline_exceeded);
  for (auto end = step_clock::now() + 10s; !value.unique() && step_clock::now() < end;)
    std::this_thread::yield();
  CHECK(value.unique());
  fixture.test_gate.opened.set_value();
  CHECK(slow.get());
  CHECK(fixture.test_gate.begun_count == 1);
}

TEST_CASE("a session that closes ends the steps whose long work is running") {
  world fixture;
  auto* wait_node = fixture.add("TestWait");
  auto deadline = step_clock::now() + 20s;
  step_signature signature{.feeds = {}, .fetches = {{wait_node, 0}}, .targets = {}};
  auto step = fixture.local->prepare(fixture.nodes, signature, deadline);
  REQUIRE(step);
  std::promise<status> end_status;
  fixture.local->run_async(**step, {}, deadline, [&](result<std::vector<tensor>> outcome) {
    end_status.set_value(outcome.status());
  });
  fixture.test_gate.entered.get_future().wait();
  step->reset();
  fixture.local.reset();
  CHECK_FALSE(end_status.get_future().get());
  CHECK(fixture.test_gate.was_stopped);
}

TEST_CASE("an error of long work names the node") {
  world fixture;
  auto outcome = fixture.run(fixture.add("TestFail")).status();
  CHECK(outcome.kind() == error_kind::data_loss);
  CHECK_THAT(outcome.message(),
             Contains("TestFail 'it'") && Contains("the file has i32[] {7} in it"));
}

TEST_CASE("long work whose outputs differ from its op's declaration is an error") {
  world fixture;
  CHECK(fixture.run(fixture.add("TestTooMuch")).status().kind() == error_kind::internal);
}

TEST_CASE("an op whose work this build lacks is refused when the step is compiled") {
  world fixture;
  auto outcome = fixture.run(fixture.add("TestIdle")).status();
  CHECK(outcome.kind() == error_kind::unimplemented);
  CHECK_THAT(outcome.message(), Contains("'it'") && Contains("nothing answers this wait"));
}

TEST_CASE("an op with long work must be a waiting op that no resource answers") {
  registry test_registry;
  REQUIRE(ops::add_all(test_registry));
  CHECK_FALSE(test_registry.add(work_def{"NoOp", fail}));
  CHECK_FALSE(test_registry.add(work_def{"Stage", fail}));
  CHECK_FALSE(test_registry.add(work_def{"NoSuchOp", fail}));
  CHECK_FALSE(test_registry.add(work_def{"SaveV2", nullptr}));
  CHECK(test_registry.add(work_def{"SaveV2", fail}));
  CHECK_FALSE(test_registry.add(work_def{"SaveV2", fail}));
}

} // namespace troupe::test::long_work_test
