#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/platform/thread_number.hpp"
#include "troupe/runtime/program/instance.hpp"

#include <cmath>
#include <set>

namespace troupe::test::step_profiler_test {

using Catch::Matchers::Contains;

namespace {

struct recording_sink final : emission_sink {
  void send_token(token&& sent) override { tokens.push_back(std::move(sent)); }
  void send_export(uint32_t, tensor&& value, bool) override {
    kept_tensors.push_back(std::move(value));
  }
  void send_fetch(uint32_t, tensor&& value, bool) override {
    kept_tensors.push_back(std::move(value));
  }
  void start_wait(uint32_t wait_index, std::span<tensor>) override { waits.push_back(wait_index); }
  std::vector<token> tokens;
  std::vector<tensor> kept_tensors;
  std::vector<uint32_t> waits;
};

struct watched {
  std::unique_ptr<graph> in = std::make_unique<graph>(ops());
  test_device device;
  variables state;
  stop_signal stop;
  recording_sink out;
  std::optional<instance> runs;
  std::unique_ptr<step_profiler> watch;

  edge op(std::string name, std::string type, std::vector<edge> inputs, attr_map attrs = {}) {
    return add(*in, {.op = std::move(type),
                     .name = std::move(name),
                     .inputs = std::move(inputs),
                     .attrs = std::move(attrs)});
  }
  edge feed(int index, dtype type) {
    return op("x" + std::to_string(index), "_Feed", {}, {{"index", index}, {"dtype", type}});
  }
  void fetch(int index, edge source) {
    op("fetch" + std::to_string(index), "_Fetch", {source}, {{"index", index}});
  }
  void compile() {
    auto compiled = program::compile(std::move(in), device, std::ref(state));
    if (!compiled)
      FAIL(compiled.status());
    runs.emplace(*compiled);
    watch = std::make_unique<step_profiler>(**compiled);
    runs->set_profiler(watch.get());
  }
  status run(profile_options options, const std::vector<tensor>& feeds) {
    runs->reset();
    watch->begin(options);
    for (size_t i = 0; i < feeds.size(); ++i)
      runs->set_feed(i, feeds[i]);
    REQUIRE(runs->receive(token{}));
    return runs->run(0, out, stop);
  }
  task_statistics statistics() {
    task_statistics collected;
    auto subjects = std::make_shared<std::vector<span_subject>>();
    step_profiler::append_subjects(runs->program(), "cpu", *subjects);
    CHECK(subjects->size() == step_profiler::subjects_of(runs->program()));
    collected.subjects = std::move(subjects);
    watch->collect(0, collected);
    return collected;
  }
};

std::vector<std::string> names(const task_statistics& statistics, span_kind kind) {
  std::vector<std::string> names_found;
  for (const auto& span : statistics.spans)
    if (statistics.subject_of(span).kind == kind)
      names_found.push_back(statistics.subject_of(span).name);
  return names_found;
}

} // namespace

TEST_CASE("each node has a span, in order and within its region's span") {
  watched on;
  auto x = on.feed(0, dtype::f32);
  auto sum = on.op("sum", "Add", {x, x});
  on.fetch(0, on.op("minus", "Neg", {sum}));
  on.compile();
  auto start = steady_ns();
  for (int step = 0; step < 3; ++step) { // independent of the previous step
    REQUIRE(on.run({.times = true}, {tensor::vector<float>({1, 2})}));
    auto statistics = on.statistics();
    CHECK(names(statistics, span_kind::node) == std::vector<std::string>{"sum", "minus"});
    CHECK(names(statistics, span_kind::region) == std::vector<std::string>{"region 0"});
    const auto& region = statistics.spans[0];
    CHECK(region.begin_ns >= start);
    CHECK(region.end_ns <= steady_ns());
    auto last = region.begin_ns;
    for (size_t i = 1; i < statistics.spans.size(); ++i) {
      CHECK(statistics.spans[i].begin_ns >= last);
      CHECK(statistics.spans[i].end_ns >= statistics.spans[i].begin_ns);
      CHECK(statistics.spans[i].end_ns <= region.end_ns);
      CHECK(statistics.spans[i].thread == thread_number());
      last = statistics.spans[i].end_ns;
    }
    start = region.begin_ns;
  }
}

TEST_CASE("new memory counts for the node that allocated it, even if others share it later") {
  watched on;
  auto x = on.feed(0, dtype::f32);
  auto a = on.op("a", "Neg", {x});
  auto b = on.op("b", "Identity", {a});
  on.fetch(0, on.op("c", "Add", {b, x}));
  on.compile();
  auto value = tensor::make(dtype::f32, shape{1000});
  REQUIRE(value);
  std::fill_n(value->data<float>(), 1000, 1.0f);
  REQUIRE(on.run({.times = true}, {*value}));
  auto statistics = on.statistics();
  std::map<std::string, uint64_t> bytes;
  for (const auto& span : statistics.spans)
    if (statistics.subject_of(span).kind == span_kind::node)
      bytes[statistics.subject_of(span).name] = span.bytes;
  CHECK(bytes["a"] == 4000);
  CHECK(bytes["b"] == 0); // allocated by a
}

TEST_CASE("a failed step reports its progress") {
  watched on;
  auto x = on.feed(0, dtype::f32);
  auto* good = on.op("good", "Neg", {x}).node;
  auto bad = on.op("bad", "Fail", {edge{good, 0}});
  on.fetch(0, on.op("never", "Neg", {bad}));
  on.compile();
  CHECK_FALSE(on.run({.times = true}, {tensor::vector<float>({1})}));
  CHECK(names(on.statistics(), span_kind::node) == std::vector<std::string>{"good"});
}

TEST_CASE("a wait's span starts with its request and ends with its answer") {
  watched on;
  auto x = on.feed(0, dtype::i64);
  auto queue = on.op("queue", "Queue", {});
  auto ask_node = on.op("asked", "Ask", {queue, x}, {{"N", 1}});
  on.fetch(0, on.op("after", "Neg", {ask_node}));
  on.compile();
  REQUIRE(on.run({.times = true}, {tensor::scalar(int64_t{1})}));
  REQUIRE(on.out.waits.size() == 1);
  CHECK(names(on.statistics(), span_kind::wait).empty()); // it still waits
  std::vector<tensor> answer{tensor::scalar(int64_t{1}), tensor::scalar(int64_t{2})};
  auto start = steady_ns();
  on.watch->end_wait(on.out.waits[0], 16);
  REQUIRE(on.runs->answer(on.out.waits[0], answer, false));
  auto statistics = on.statistics();
  REQUIRE(names(statistics, span_kind::wait) == std::vector<std::string>{"asked"});
  for (const auto& span : statistics.spans)
    if (statistics.subject_of(span).kind == span_kind::wait) {
      CHECK(span.bytes == 16);
      CHECK(span.begin_ns <= start);
      CHECK(span.end_ns >= start);
      CHECK(statistics.subject_of(span).op == "Ask");
    }
}

TEST_CASE("the trap names the first node that makes a NaN, and describes its inputs") {
  watched on;
  auto x = on.feed(0, dtype::f32), y = on.feed(1, dtype::f32);
  auto negated = on.op("less", "Neg", {y});
  auto sum = on.op("sum", "Add", {x, negated}); // infinity minus infinity
  on.fetch(0, on.op("later", "Neg", {sum}));
  on.compile();
  auto fine = tensor::vector<float>({1, 2});
  CHECK(on.run({.check_numerics = true}, {fine, fine}));
  auto huge = tensor::vector<float>({1, INFINITY});
  CHECK(on.run({}, {huge, fine})); // the trap is off
  auto failed = on.run({.check_numerics = true}, {huge, fine});
  CHECK(failed.kind() == error_kind::invalid_argument);
  CHECK_THAT(failed.message(), Contains("Add 'sum'"));
  CHECK_THAT(failed.message(), Contains("\n  output 0 f32[2]: 1 of 2 values is not finite"));
  CHECK_THAT(failed.message(), Contains("the first at [1]"));
  CHECK_THAT(failed.message(), Contains("\n  input 0 'x0' f32[2]: 1 of 2"));
  // Its memory may already hold the output, so the report describes the earlier value.
  CHECK_THAT(failed.message(), Contains("\n  input 1 'less' f32[2]: finite, from -2 to -1"));
}

TEST_CASE("the trap names a constant that is not finite, although no instruction computes it") {
  watched on;
  auto odd = on.op("odd", "Const", {},
                   {{"value", tensor::vector<float>({1, INFINITY})}, {"dtype", dtype::f32}});
  on.fetch(0, on.op("minus", "Neg", {odd}));
  on.compile();
  CHECK(on.run({.times = true}, {}));
  for (int step = 0; step < 2; ++step) {
    auto failed = on.run({.check_numerics = true}, {});
    CHECK(failed.kind() == error_kind::invalid_argument);
    CHECK_THAT(failed.message(), Contains("Const 'odd'"));
    CHECK_THAT(failed.message(), Contains("is a constant that is not finite: f32[2]: 1 of 2"));
  }
}

TEST_CASE("a region's send may fail, even without a node that sends") {
  struct full final : emission_sink {
    void send_token(token&&) override { throw std::bad_alloc{}; }
    void send_export(uint32_t, tensor&&, bool) override {}
    void send_fetch(uint32_t, tensor&&, bool) override {}
    void start_wait(uint32_t, std::span<tensor>) override {}
  } out;
  watched on;
  auto x = on.feed(0, dtype::f32);
  auto* first = on.op("first", "Neg", {x}).node;
  auto ask_node =
      on.op("asked", "Ask", {on.op("queue", "Queue", {}), on.feed(1, dtype::i64)}, {{"N", 1}});
  auto* later =
      add(*on.in,
          {.op = "Neg", .name = "later", .inputs = {edge{first, 0}}, .controls = {ask_node.node}})
          .node;
  on.fetch(0, edge{later, 0});
  on.compile();
  on.runs->set_profiler(nullptr);
  REQUIRE(on.runs->receive(token{}));
  on.runs->set_feed(0, tensor::vector<float>({1}));
  on.runs->set_feed(1, tensor::scalar(int64_t{1}));
  size_t failed = 0;
  for (uint32_t i = 0; i < on.runs->program().regions().size() && !failed; ++i)
    failed += on.runs->run(i, out, on.stop).kind() == error_kind::resource_exhausted;
  CHECK(failed == 1);
}

TEST_CASE("memory that the processor cannot read is not inspected") {
  test_device elsewhere{device_kind::gpu};
  watched on;
  auto x = on.feed(0, dtype::f32);
  on.fetch(0, on.op("minus", "Neg", {x}));
  auto compiled = program::compile(std::move(on.in), elsewhere, std::ref(on.state));
  REQUIRE(compiled);
  on.runs.emplace(*compiled);
  on.watch = std::make_unique<step_profiler>(**compiled);
  on.runs->set_profiler(on.watch.get());
  CHECK(on.run({.check_numerics = true}, {tensor::vector<float>({INFINITY})}));
}

} // namespace troupe::test::step_profiler_test
