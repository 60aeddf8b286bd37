#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/program/instance.hpp"
#include "troupe/runtime/program/step_profiler.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace troupe::test::instance_test {

namespace {

// Collects the outputs of a region.
struct record final : emission_sink {
  void send_token(token&& sent) override { tokens.push_back(std::move(sent)); }
  void send_export(uint32_t export_index, tensor&& value, bool dead) override {
    text += concat("export ", export_index, dead ? " dead" : concat(' ', value), '\n');
  }
  void send_fetch(uint32_t fetch_index, tensor&& value, bool dead) override {
    text += concat("fetch ", fetch_index, dead ? " dead" : concat(' ', value), '\n');
    kept_tensors.push_back(std::move(value));
  }
  void start_wait(uint32_t wait_index, std::span<tensor> inputs) override {
    text += concat("wait ", wait_index, " with ", inputs.size(), '\n');
  }
  std::string take() { return std::exchange(text, {}); }

  std::vector<token> tokens;
  std::vector<tensor> kept_tensors;
  std::string text;
};

struct world {
  std::unique_ptr<graph> in = std::make_unique<graph>(ops());
  test_device device;
  variables state;
  stop_signal stop;
  record out;
  edge unit = constant(*in, int64_t{1});

  edge op(std::string name, std::vector<edge> inputs, attr_map attrs = {}) {
    return add(*in,
               {.op = std::move(name), .inputs = std::move(inputs), .attrs = std::move(attrs)});
  }
  edge feed(int index) { return op("_Feed", {}, {{"index", index}, {"dtype", dtype::i64}}); }
  void fetch(int index, edge source) { op("_Fetch", {source}, {{"index", index}}); }
  instance start() {
    auto compiled = program::compile(std::move(in), device, std::ref(state));
    if (!compiled)
      FAIL(compiled.status());
    return instance{*compiled};
  }
};

tensor number(int64_t value) { return tensor::scalar(value); }

} // namespace

TEST_CASE("a region starts with the last of its tokens, and only then") {
  world w;
  auto q = w.op("Queue", {});
  auto ask = w.op("Ask", {q, w.unit});
  w.fetch(0, w.op("Add", {ask, w.unit}));
  auto running = w.start();
  REQUIRE(running.receive({.region = 0}));
  REQUIRE(running.run(0, w.out, w.stop).ok());
  CHECK(w.out.take() == "wait 0 with 1\n");
  REQUIRE(w.out.tokens.size() == 1);
  std::vector<tensor> reply{number(10), number(11)};
  CHECK_FALSE(running.answer(0, reply, false));
  CHECK(running.receive(std::move(w.out.tokens[0])));
  REQUIRE(running.run(1, w.out, w.stop).ok());
  CHECK(w.out.take() == "fetch 0 i64[] {11}\n");
}

TEST_CASE("an error names the node and its line, and nothing after it runs") {
  world w;
  auto line = std::source_location::current().line() + 1;
  auto fails = add(*w.in, {.op = "Fail", .name = "trouble", .inputs = {w.unit}});
  w.fetch(0, fails);
  auto running = w.start();
  running.receive({.region = 0});
  auto ended = running.run(0, w.out, w.stop);
  CHECK(concat(ended) ==
        concat("aborted: Fail 'trouble' (instance_test.cpp:", line, "): as it was told"));
  CHECK(w.out.take().empty());
}

TEST_CASE("reading a variable that was never assigned names reader and variable") {
  world w;
  auto v = add(*w.in, {.op = "Variable", .name = "weights", .attrs = {{"dtype", dtype::i64}}});
  w.op("Neg", {v});
  auto running = w.start();
  running.receive({.region = 0});
  auto ended = running.run(0, w.out, w.stop);
  CHECK(ended.kind() == error_kind::failed_precondition);
  CHECK(ended.message().starts_with("Neg 'Neg' (instance_test.cpp:"));
  CHECK(ended.message().find("variable 'weights' is uninitialized") != std::string::npos);
}

TEST_CASE("a stopped step ends after its present instruction") {
  world w;
  w.fetch(0, w.unit);
  auto running = w.start();
  running.receive({.region = 0});
  w.stop.raise();
  CHECK(running.run(0, w.out, w.stop).kind() == error_kind::cancelled);
  CHECK(w.out.take().empty());
  running.reset();
  w.stop.arm();
  REQUIRE(running.receive({.region = 0}));
  CHECK(running.run(0, w.out, w.stop).ok());
  CHECK(w.out.take() == "fetch 0 i64[] {1}\n");
}

TEST_CASE("a reset releases unused feeds") {
  world w;
  w.fetch(0, w.feed(0));
  auto running = w.start();
  running.set_feed(0, *tensor::make(dtype::i64, {100}, w.device.memory()));
  CHECK(w.device.memory().live == 1);
  running.reset();
  CHECK(w.device.memory().live == 0);
}

TEST_CASE("an element-wise op writes over an input that dies, and over no other") {
  world w;
  auto x = w.feed(0), y = w.feed(1);
  auto first = w.op("Add", {x, w.unit}); // the last use of x
  auto second = w.op("Add", {y, first}); // y is needed again, so this reuses first's memory
  w.fetch(0, w.op("Add", {second, y}));
  w.fetch(1, y);
  auto running = w.start();
  auto block = [&](int64_t value) {
    auto filled = *tensor::make(dtype::i64, {4}, w.device.memory());
    std::ranges::fill(filled.values<int64_t>(), value);
    return filled;
  };
  running.set_feed(0, block(10));
  running.set_feed(1, block(20));
  running.receive({.region = 0});
  REQUIRE(running.run(0, w.out, w.stop).ok());
  CHECK(w.out.take() == "fetch 0 i64[4] {51, 51, 51, 51}\nfetch 1 i64[4] {20, 20, 20, 20}\n");
  CHECK(w.device.memory().live == 2); // no new allocation
  auto shared = block(5);
  running.reset();
  running.set_feed(0, shared);
  running.set_feed(1, shared);
  running.receive({.region = 0});
  REQUIRE(running.run(0, w.out, w.stop).ok());
  CHECK(shared.values<int64_t>()[0] == 5); // the client's tensor is unchanged
}

TEST_CASE("a dead token reaches every dependent fetch, export and wait, and runs no kernel") {
  world w;
  auto q = w.op("Queue", {});
  auto v = w.op("Variable", {}, {{"dtype", dtype::i64}});
  auto ask = w.op("Ask", {q, w.unit});
  w.op("AssignAdd", {v, ask});
  w.fetch(0, ask);
  w.op("_Send", {ask}, {{"key", 1}, {"to", "/job:b"}});
  w.fetch(1, w.op("Ask", {q, ask}));
  auto running = w.start();
  REQUIRE(w.state["Variable"].assign(number(5)).ok());
  running.receive({.region = 0});
  REQUIRE(running.run(0, w.out, w.stop).ok());
  w.out.take();
  REQUIRE(running.answer(0, {}, true));
  REQUIRE(running.run(1, w.out, w.stop).ok());
  CHECK(w.out.take() == "fetch 0 dead\nexport 0 dead\n");
  REQUIRE(w.out.tokens.size() == 1);
  CHECK(w.out.tokens[0].dead);
  REQUIRE(running.receive(std::move(w.out.tokens[0]))); // replaces the second answer
  REQUIRE(running.run(2, w.out, w.stop).ok());
  CHECK(w.out.take() == "fetch 1 dead\n");
  CHECK(w.state["Variable"].read()->data<int64_t>()[0] == 5);
}

TEST_CASE("kernels that cannot get memory fail with the node's name") {
  world w;
  auto x = w.feed(0);
  w.fetch(0, w.op("AddN", {x, x}));
  auto running = w.start();
  step_profiler times{running.program()};
  times.begin({.times = true});
  running.set_profiler(&times);
  running.set_feed(0, *tensor::make(dtype::i64, {1000}));
  w.device.memory().limit = 100;
  running.receive({.region = 0});
  auto ended = running.run(0, w.out, w.stop);
  CHECK(ended.kind() == error_kind::resource_exhausted);
  CHECK(ended.message().starts_with("AddN 'AddN' (instance_test.cpp:"));
}

namespace {

// Threads that run the regions of one step.
struct region_threads final : emission_sink {
  void send_token(token&& sent) override {
    auto region = sent.region;
    if (on.receive(std::move(sent)))
      offer(region);
  }
  void send_export(uint32_t, tensor&&, bool) override {}
  void send_fetch(uint32_t, tensor&& value, bool) override {
    std::lock_guard guard{mutex};
    sum = value.data<int64_t>()[0];
    changed.notify_all();
  }
  void start_wait(uint32_t wait_index, std::span<tensor>) override {
    std::vector<tensor> reply{number(wait_index), number(0)};
    if (on.answer(wait_index, reply, false))
      offer(on.program().waits()[wait_index].region);
  }
  void offer(uint32_t region) {
    std::lock_guard guard{mutex};
    ready.push_back(region);
    changed.notify_all();
  }
  void work(stop_signal& stop) {
    std::unique_lock guard{mutex};
    while (sum < 0) {
      if (ready.empty()) {
        changed.wait(guard);
        continue;
      }
      auto region = ready.front();
      ready.pop_front();
      guard.unlock();
      auto ended = on.run(region, *this, stop);
      guard.lock();
      failed = failed || !ended;
    }
  }
  explicit region_threads(instance& running_instance) : on(running_instance) {}
  instance& on;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<uint32_t> ready;
  int64_t sum = -1;
  bool failed = false;
};

} // namespace

TEST_CASE("regions of one step may run on several threads") {
  world w; // many independent waits, joined at the end
  auto q = w.op("Queue", {});
  std::vector<edge> parts;
  for (int i = 0; i < 64; ++i)
    parts.push_back(w.op("Add", {w.op("Ask", {q, w.unit}), w.unit}));
  w.fetch(0, w.op("AddN", parts));
  auto running = w.start();
  for (int step = 0; step < 50; ++step) {
    running.reset();
    region_threads workers{running};
    workers.send_token({.region = 0});
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] { workers.work(w.stop); });
    }
    CHECK(workers.sum == 63 * 64 / 2 + 64);
    CHECK_FALSE(workers.failed);
  }
}

TEST_CASE("a region of many instructions notices its deadline") {
  world w;
  auto x = w.feed(0);
  for (int i = 0; i < 200; ++i)
    x = w.op("Neg", {x});
  w.fetch(0, x);
  auto running = w.start();
  running.set_feed(0, number(1));
  running.receive({.region = 0});
  w.stop.arm(stop_signal::clock::now());
  auto ended = running.run(0, w.out, w.stop);
  CHECK(ended.kind() == error_kind::deadline_exceeded);
  CHECK(w.out.take().empty());
}

TEST_CASE("element-wise nodes overwrite inputs that are not needed any more") {
  world w;
  auto x = w.feed(0);
  auto y = w.op("AddN", {x, x});
  for (int i = 0; i < 10; ++i)
    y = w.op("Neg", {y});
  w.fetch(0, y);
  auto running = w.start();
  step_profiler times{running.program()};
  times.begin({.times = true});
  running.set_profiler(&times);
  running.set_feed(0, *tensor::make(dtype::i64, {1000}));
  running.receive({.region = 0});
  REQUIRE(running.run(0, w.out, w.stop).ok());
  CHECK(running.memory().allocations == 1);
  CHECK(running.memory().peak == 8064); // including the buffer's header of 64 bytes
}

TEST_CASE("a step's memory counts only the step itself") {
  world w;
  auto x = w.feed(0);
  w.fetch(0, w.op("AddN", {x, x}));
  w.op("AddN", {w.op("AddN", {x, x, x}), x});
  auto running = w.start();
  step_profiler times{running.program()};
  times.begin({.times = true});
  running.set_profiler(&times);
  for (int step = 0; step < 20; ++step) { // w.out keeps the fetched tensors
    running.reset();
    running.set_feed(0, *tensor::make(dtype::i64, {100}));
    running.receive({.region = 0});
    REQUIRE(running.run(0, w.out, w.stop).ok());
    CHECK(running.memory().allocations >= 2);
    CHECK(running.memory().in_use == 864);
    CHECK(running.memory().peak <= 3 * 864);
  }
  CHECK(w.out.kept_tensors.size() == 20);
}

TEST_CASE("the largest tensors of a step are listed by the nodes that made them") {
  world w;
  auto x = w.feed(0);
  w.op("Add", {x, w.op("Neg", {w.unit})});
  w.fetch(0, x); // needed later, so it is not overwritten
  auto running = w.start();
  step_profiler times{running.program()};
  times.begin({.times = true});
  running.set_profiler(&times);
  running.set_feed(0, *tensor::make(dtype::i64, {1000}));
  w.device.memory().limit = 100;
  running.receive({.region = 0});
  auto ended = running.run(0, w.out, w.stop);
  REQUIRE(ended.kind() == error_kind::resource_exhausted);
  CHECK(ended.message().find("8000 bytes") != std::string::npos);
  CHECK(ended.message().find("its limit is") != std::string::npos);
  std::vector<held_tensor> largest;
  running.list_tensors(largest);
  auto text = describe_largest(largest, 1);
  CHECK(text.starts_with("; the step's largest tensors: 8000 bytes, i64[1000] of _Feed '"));
  CHECK(text.find(", 8 bytes") == std::string::npos);
  CHECK(describe_largest({}, 10).empty());
}

} // namespace troupe::test::instance_test
