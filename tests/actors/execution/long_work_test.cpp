// Nodes whose work takes long: a thread of its own does it (runtime/graph/long_work.hpp).
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

// What the op does until a test lets it go.
struct gate {
  std::promise<void> entered, opened;
  std::atomic<bool> was_stopped = false;
  std::atomic<int> begun = 0;
};
gate* now_at = nullptr;

result<std::vector<tensor>> wait_at_gate(const work_context& at) {
  auto& here = *now_at;
  if (here.begun++ == 0)
    here.entered.set_value();
  auto open = here.opened.get_future();
  while (open.wait_for(1ms) == std::future_status::timeout)
    if (at.stopped()) {
      here.was_stopped = true;
      return failure(error_kind::cancelled, "stopped");
    }
  return std::vector{at.inputs[0]};
}

result<std::vector<tensor>> fail(const work_context& at) {
  return failure(error_kind::data_loss, "the file has ", at.inputs[0], " in it");
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
  static constexpr auto waits = op_called("TestWait"), fails = op_called("TestFail"),
                        gives = op_called("TestTooMuch"), idle = op_called("TestIdle");
  static const registry all = [] {
    registry made;
    auto ok = ops::add_all(made).ok();
    for (const auto* op : {&waits, &fails, &gives, &idle})
      ok &= made.add(*op).ok();
    ok &= made.add(work_def{"TestWait", wait_at_gate}).ok();
    ok &= made.add(work_def{"TestFail", fail}).ok();
    ok &= made.add(work_def{"TestTooMuch", give_too_much}).ok();
    if (!ok)
      throw std::logic_error{"the library for tests"};
    return made;
  }();
  return all;
}

struct world {
  watchdog watch;
  gate here;
  graph nodes{working_library()};
  std::unique_ptr<client> local;
  node* x = nullptr;

  world() {
    now_at = &here;
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

  result<std::vector<tensor>> run(node* what, std::chrono::milliseconds timeout = 20s,
                                  std::vector<edge> fed = {}, std::vector<tensor> feeds = {}) {
    auto deadline = step_clock::now() + timeout;
    step_signature signature{.feeds = std::move(fed), .fetches = {{what, 0}}, .targets = {}};
    TROUPE_ASSIGN(auto step, local->prepare(nodes, signature, deadline));
    return local->run(*step, std::move(feeds), deadline);
  }
};

} // namespace

TEST_CASE("other steps of a session with one thread go on while a node's work takes long") {
  world at;
  auto* waits = at.add("TestWait");
  auto slow = std::async(std::launch::async, [&] { return at.run(waits); });
  at.here.entered.get_future().wait();
  for (int i = 0; i < 10; ++i)
    CHECK(at.run(at.x));
  CHECK(slow.wait_for(0s) == std::future_status::timeout);
  at.here.opened.set_value();
  auto outcome = slow.get();
  REQUIRE(outcome);
  CHECK(*outcome->at(0).data<int32_t>() == 7);
}

TEST_CASE("a step whose time is over does not wait for its work, which is told to stop") {
  world at;
  auto* waits = at.add("TestWait");
  auto outcome = at.run(waits, 1s);
  CHECK(outcome.status().kind() == error_kind::deadline_exceeded);
  CHECK_THAT(outcome.status().message(), Contains("'it'") && Contains("reads or writes files"));
  at.local.reset(); // waits for the thread
  CHECK(at.here.was_stopped);
}

TEST_CASE("work of a step that has failed keeps none of its tensors while it waits for its turn") {
  world at;
  auto* waits = at.add("TestWait");
  auto* fed = *at.nodes.add(
      {.op = "Placeholder",
       .attrs = {{"dtype", attr_value{dtype::i32}}, {"shape", partial_shape(shape{})}}});
  auto* next = *at.nodes.add({.op = "TestWait", .inputs = {{fed, 0}}});
  auto slow = std::async(std::launch::async, [&] { return at.run(waits); });
  at.here.entered.get_future().wait();
  auto value = tensor::scalar(8);
  CHECK(at.run(next, 100ms, {{fed, 0}}, {value}).status().kind() == error_kind::deadline_exceeded);
  for (auto end = step_clock::now() + 10s; !value.unique() && step_clock::now() < end;)
    std::this_thread::yield();
  CHECK(value.unique());
  at.here.opened.set_value();
  CHECK(slow.get());
  CHECK(at.here.begun == 1);
}

TEST_CASE("a session that closes ends the steps whose work goes on") {
  world at;
  auto* waits = at.add("TestWait");
  auto deadline = step_clock::now() + 20s;
  step_signature signature{.feeds = {}, .fetches = {{waits, 0}}, .targets = {}};
  auto step = at.local->prepare(at.nodes, signature, deadline);
  REQUIRE(step);
  std::promise<status> ended;
  at.local->run_async(**step, {}, deadline,
                      [&](result<std::vector<tensor>> what) { ended.set_value(what.status()); });
  at.here.entered.get_future().wait();
  step->reset();
  at.local.reset();
  CHECK_FALSE(ended.get_future().get());
  CHECK(at.here.was_stopped);
}

TEST_CASE("an error of long work names the node") {
  world at;
  auto why = at.run(at.add("TestFail")).status();
  CHECK(why.kind() == error_kind::data_loss);
  CHECK_THAT(why.message(), Contains("TestFail 'it'") && Contains("the file has i32[] {7} in it"));
}

TEST_CASE("work that gives other tensors than its op says is an error") {
  world at;
  CHECK(at.run(at.add("TestTooMuch")).status().kind() == error_kind::internal);
}

TEST_CASE("an op whose work this build does not have is refused when the step is compiled") {
  world at;
  auto why = at.run(at.add("TestIdle")).status();
  CHECK(why.kind() == error_kind::unimplemented);
  CHECK_THAT(why.message(), Contains("'it'") && Contains("nothing answers this wait"));
}

TEST_CASE("work is for ops that wait and that no state answers") {
  registry made;
  REQUIRE(ops::add_all(made));
  CHECK_FALSE(made.add(work_def{"NoOp", fail}));
  CHECK_FALSE(made.add(work_def{"Stage", fail}));
  CHECK_FALSE(made.add(work_def{"NoSuchOp", fail}));
  CHECK_FALSE(made.add(work_def{"SaveV2", nullptr}));
  CHECK(made.add(work_def{"SaveV2", fail}));
  CHECK_FALSE(made.add(work_def{"SaveV2", fail}));
}

} // namespace troupe::test::long_work_test
