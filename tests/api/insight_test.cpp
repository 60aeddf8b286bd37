#include "tests/support/catch.hpp"
#include "tests/support/trace_rules.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

namespace troupe::test::insight_test {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

status error_of(auto&& body) {
  try {
    body();
  } catch (const error& e) {
    return {e.kind(), e.what()};
  }
  return {};
}

std::vector<std::string> names(const step_statistics& statistics, span_kind kind) {
  std::vector<std::string> result;
  for (const auto& task : statistics.tasks)
    for (const auto& span : task.spans)
      if (task.subject_of(span).kind == kind)
        result.push_back(task.subject_of(span).name);
  return result;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

} // namespace

TEST_CASE("a run reports which nodes ran, when and where") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto scaled = mul(x, 3.0f, "scaled");
  auto y = add(scaled, x, "y");
  auto s = session::local({.passes = {.fuse = false}});
  step_statistics statistics;
  auto before = std::chrono::steady_clock::now();
  auto values = tensor::vector<float>(std::vector<float>(1000, 1.0f));
  s.run({{x, values}}, {y}, {}, {.statistics = &statistics});
  REQUIRE(statistics.tasks.size() == 1);
  const auto& task = statistics.tasks[0];
  CHECK(task.task == "/job:local/task:0");
  auto node_names = names(statistics, span_kind::node);
  CHECK(std::ranges::count(node_names, "scaled") == 1);
  CHECK(std::ranges::count(node_names, "y") == 1);
  CHECK(task.peak_bytes >= 4000);
  CHECK(task.allocated_bytes >= 4000);
  CHECK(statistics.begin_ns >= before.time_since_epoch().count());
  CHECK(statistics.begin_ns <= task.begin_ns);
  CHECK(task.end_ns <= statistics.end_ns);
  for (const auto& span : task.spans) {
    CHECK(span.begin_ns >= task.begin_ns);
    CHECK(span.end_ns <= task.end_ns);
    CHECK(task.subject_of(span).device == "/job:local/task:0/device:cpu:0");
  }
  // The next run, and a run without statistics, keep no records.
  s.run({{x, values}}, {y});
  auto prepared = s.prepare({x}, {y});
  prepared.run({values}, {.statistics = &statistics});
  CHECK(names(statistics, span_kind::node).size() == node_names.size());
}

TEST_CASE("statistics report the times of nodes within nested loops, by loop") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {1000}, "x");
  auto y = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], 5); },
      [&](auto& v) {
        auto inner = while_loop(
            {g.constant(0), v[1]}, [&](auto& u) { return less(u[0], 3); },
            [&](auto& u) {
              return std::vector{u[0] + 1, cumsum(u[1], 0, {}, "added")};
            },
            {.name = "rnn", .parallel_iterations = 1})[1];
        return std::vector{v[0] + 1, softmax(inner, "soft")};
      },
      {.name = "train", .parallel_iterations = 1})[1];
  auto s = session::local();
  auto train = s.prepare({x}, {y});
  for (int i = 0; i < 2; ++i) { // the second run has records of its own
    step_statistics statistics;
    train.run({tensor::vector(std::vector<float>(1000, 1))}, {.statistics = &statistics});
    const auto& task = statistics.tasks.at(0);
    std::map<std::string, const step_span*> inner;
    const step_span* train_span = nullptr;
    for (const auto& span : task.spans)
      if (task.subject_of(span).kind == span_kind::inner)
        inner[task.subject_of(span).name] = &span;
      else if (task.subject_of(span).name == "train")
        train_span = &span;
    REQUIRE(train_span);
    REQUIRE(inner.contains("train [body] soft"));
    REQUIRE(inner.contains("train [body] rnn [body] added"));
    CHECK(inner.at("train [body] soft")->runs == 5);
    CHECK(inner.at("train [body] rnn")->runs == 5);
    CHECK(inner.at("train [body] rnn [body] added")->runs == 15);
    auto duration_of = [](const step_span* span) { return span->end_ns - span->begin_ns; };
    CHECK(duration_of(inner.at("train [body] rnn [body] added")) > 0);
    CHECK(duration_of(inner.at("train [body] rnn [body] added")) <=
          duration_of(inner.at("train [body] rnn")));
    CHECK(duration_of(inner.at("train [body] rnn")) + duration_of(inner.at("train [body] soft")) <=
          duration_of(train_span) + 1000);
  }
}

TEST_CASE("statistics report the times of loop nodes whose iterations overlap or wait") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32}, {.capacity = 100});
  auto rows = g.placeholder(dtype::f32, {10, 1000}, "rows");
  auto* enqueue = queue_enqueue_many(queue, {rows});
  auto y = while_loop(
      {g.constant(0), g.constant(tensor::vector(std::vector<float>(1000)))},
      [&](auto& v) { return less(v[0], 5); },
      [&](auto& v) {
        auto inner = while_loop(
            {g.constant(0), queue_dequeue(queue, {dtype::f32})[0]},
            [&](auto& u) { return less(u[0], 3); },
            [&](auto& u) {
              return std::vector{u[0] + 1, cumsum(u[1], 0, {}, "added")};
            },
            {.name = "rnn"})[1];
        return std::vector{v[0] + 1, v[1] + softmax(inner, "soft")};
      },
      {.name = "train"})[1];
  auto s = session::local();
  s.run({{rows, tensor::from_values({10, 1000}, std::vector<float>(10'000, 1))}}, {}, {enqueue});
  auto train = s.prepare({}, {y});
  for (int i = 0; i < 2; ++i) {
    step_statistics statistics;
    train.run({}, {.statistics = &statistics});
    const auto& task = statistics.tasks.at(0);
    std::map<std::string, const step_span*> inner;
    for (const auto& span : task.spans)
      if (task.subject_of(span).kind == span_kind::inner)
        inner[task.subject_of(span).name] = &span;
    for (const auto& [name, inner_span] : inner)
      UNSCOPED_INFO(name << " " << inner_span->runs);
    REQUIRE(inner.contains("train/soft"));
    CHECK(inner.at("train/soft")->runs == 5);
    CHECK(inner.at("train/soft")->begin_ns >= task.begin_ns);
    CHECK(inner.at("train/soft")->end_ns > inner.at("train/soft")->begin_ns);
    REQUIRE(inner.contains("train/rnn [body] added"));
    CHECK(inner.at("train/rnn [body] added")->runs == 15);
    CHECK(!task.spans.empty());
  }
}

TEST_CASE("steps of many threads form one trace that follows the format's rules") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32}, {.capacity = 1});
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto* enqueue = queue_enqueue(queue, {exp(x)});
  auto got = queue_dequeue(queue, {dtype::f32})[0];
  auto y = got * 2;
  auto s = session::local({.threads = {.inter_op = 2}});
  std::vector<step_statistics> steps(20);
  {
    auto taker = s.prepare({}, {y});
    auto giver = s.prepare({x}, {}, {enqueue});
    std::jthread putter{[&] {
      for (size_t i = 0; i < 10; ++i)
        taker.run({}, {.statistics = &steps[i]});
    }};
    for (size_t i = 10; i < 20; ++i)
      giver.run({tensor::scalar(1.0f)}, {.statistics = &steps[i]});
  }
  auto trace = json::parse(trace_json(steps));
  CHECK(test::broken_rule(trace) == "");
  CHECK(test::slices(trace, "region 0").size() == 20);
  CHECK(names(steps[0], span_kind::wait).size() == 1);
  CHECK(std::ranges::count_if(trace["traceEvents"], [](const json& entry) {
          return entry["ph"] == "b" && entry["cat"] == "wait";
        }) == 20);
}

TEST_CASE("a run without a waiting thread has its statistics before its callback is called") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = log(x, "y");
  auto s = session::local({.insight = {.sample_every = 1}});
  auto prepared = s.prepare({x}, {y});
  step_statistics statistics;
  prepared.run_async({tensor::scalar(1.0f)}, {.statistics = &statistics}).get();
  CHECK(names(statistics, span_kind::node) == std::vector<std::string>{"y"});
  CHECK(statistics.begin_ns <= statistics.tasks.at(0).begin_ns);
  CHECK(statistics.tasks.at(0).end_ns <= statistics.end_ns);
  CHECK(s.node_times().size() == 1);
  auto trapped = prepared.run_async({tensor::scalar(-1.0f)}, {.check_numerics = true});
  CHECK(error_of([&] { trapped.get(); }).kind() == error_kind::invalid_argument);
}

TEST_CASE("a failed run reports how far it came") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x"), y = g.placeholder(dtype::f32, {-1}, "y");
  auto z = add(neg(x, "fine"), y, "unfit");
  auto s = session::local({.passes = {.fuse = false}});
  step_statistics statistics;
  auto outcome = error_of([&] {
    s.run({{x, {1.0f, 2.0f}}, {y, {1.0f, 2.0f, 3.0f}}}, {z}, {}, {.statistics = &statistics});
  });
  CHECK(outcome.kind() == error_kind::invalid_argument);
  CHECK(names(statistics, span_kind::node) == std::vector<std::string>{"fine"});
}

TEST_CASE("a session that samples knows the durations of nodes") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = exp(x, "y");
  auto s = session::local({.insight = {.sample_every = 3}});
  auto prepared = s.prepare({x}, {y});
  for (int i = 0; i < 7; ++i)
    prepared.run({tensor::scalar(1.0f)});
  auto known = s.node_times();
  auto found_entry = std::ranges::find(known, "y", &node_time::node);
  REQUIRE(found_entry != known.end());
  CHECK(found_entry->runs == 3); // the first, the fourth and the seventh run
  CHECK(found_entry->mean_ns > 0);
  CHECK(found_entry->device == "/job:local/task:0/device:cpu:0");
  CHECK(session::local().node_times().empty());
}

TEST_CASE("node durations that a session was given are listed with the measured ones") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = exp(x, "y");
  node_time known{.node = "elsewhere", .device = "/device:cpu:0", .runs = 3, .mean_ns = 70};
  auto s = session::local({.insight = {.sample_every = 1, .node_times = {known}}});
  s.fetch(y, {{x, 1.0f}});
  auto times = s.node_times();
  REQUIRE(times.size() == 2);
  CHECK(times[0].node == "elsewhere"); // sorted by name
  CHECK(times[0].runs == 3);
  CHECK(times[0].mean_ns == 70);
  CHECK(times[1].node == "y");
}

TEST_CASE("explaining a step's placement runs no node") {
  graph_builder g;
  auto count = g.variable(0, "count");
  auto incremented = assign_add(count, 1, "more");
  auto s = session::local();
  s.run(g.initializer());
  auto report = s.explain_placement({}, {incremented}, {g.initializer()});
  CHECK(std::ranges::count(report.nodes, "more", &placed_node::node) == 1);
  CHECK(to_scalar<int>(s.fetch(count)) == 0);
}

TEST_CASE("the spans of a step are listed in the order of their begin") {
  graph_builder g;
  auto x = g.constant(tensor::from_values<float>({200, 200}, std::vector<float>(40'000, 0.01f)));
  std::vector<edge> fetches;
  for (int i = 0; i < 8; ++i) {
    auto y = x;
    for (int k = 0; k < 4; ++k)
      y = matmul(y, x) + static_cast<float>(i);
    fetches.push_back(sum(y));
  }
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 4}, .passes = {.fold = false}});
  for (int i = 0; i < 3; ++i) {
    step_statistics statistics;
    s.run({}, fetches, {}, {.statistics = &statistics});
    for (const auto& task : statistics.tasks) {
      CHECK(task.spans.size() > 30);
      CHECK(std::ranges::is_sorted(task.spans, {}, &step_span::begin_ns));
      for (const auto& device_memory : task.memory) {
        CHECK(std::ranges::is_sorted(device_memory.at_ns));
        CHECK(device_memory.at_ns.size() == device_memory.bytes.size());
      }
    }
  }
}

TEST_CASE("nodes of the same name in two graphs of a session are measured separately") {
  auto s = session::local({.insight = {.sample_every = 1}});
  for (int runs : {2, 3}) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {-1}, "x");
    auto prepared = s.prepare({x}, {exp(x, "y")});
    for (int i = 0; i < runs; ++i)
      prepared.run({tensor::vector(std::vector<float>(static_cast<size_t>(runs)))});
  }
  auto known = s.node_times();
  auto found_entry = std::ranges::find(known, "y", &node_time::node);
  REQUIRE(found_entry != known.end());
  CHECK(found_entry->runs == 3);
}

TEST_CASE("check_numerics names the first node that makes a NaN, its line, and its inputs") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto line = __LINE__ + 1;
  auto logarithm = log(x, "bad");
  auto y = neg(logarithm * 2);
  auto s = session::local({.passes = {.fuse = false}});
  auto run = [&](session& used_session, const run_options& options) {
    return error_of([&] { used_session.run({{x, {2.0f, -1.0f}}}, {y}, {}, options); });
  };
  CHECK(run(s, {}).ok());
  auto trapping = session::local({.insight = {.check_numerics = true}});
  for (const auto& message : {run(s, {.check_numerics = true}), run(trapping, {})}) {
    CHECK(message.kind() == error_kind::invalid_argument);
    CHECK_THAT(first_line(message.message()),
               Contains(concat("Log 'bad' (insight_test.cpp:", line, ")")));
    CHECK_THAT(message.message(),
               Contains("\n  output 0 f32[2]: 1 of 2 values is not finite (1 NaN, 0 infinite), the "
                        "first at [1]; the others from 0.693147 to 0.693147"));
    CHECK_THAT(message.message(), Contains("\n  input 0 '_feed_0/x' f32[2]: finite, from -1 to 2"));
  }
  CHECK(error_of([&] { trapping.run({{x, {1.0f, 2.0f}}}, {y}); }).ok());
  auto fused = session::local();
  CHECK_THAT(first_line(run(fused, {.check_numerics = true}).message()),
             Contains(concat("Log 'bad' (insight_test.cpp:", line, ")"))); // one of several texts
}

TEST_CASE("a training step whose weights overflow is reported at the overflow") {
  graph_builder g;
  auto w = g.variable(tensor::vector<float>({1e30f, 1}), "w");
  auto loss = sum(square(w));
  auto* train = gradient_descent{-1e10f}.minimize(loss);
  auto s = session::local({.insight = {.check_numerics = true}});
  s.run(g.initializer());
  auto outcome = error_of([&] { s.run(train); });
  CHECK(outcome.kind() == error_kind::invalid_argument);
  CHECK_THAT(outcome.message(), Contains("1 of 2 values is not finite"));
}

TEST_CASE("check_numerics checks updated variables, and does not blame nodes for earlier values") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto v = g.variable(tensor::vector<float>({1, 2}), "v");
  auto* add_node = assign_add(v, x, "more").node;
  auto* subtract_node = assign_sub(v, g.constant(tensor::vector<float>({0, 0})), "none").node;
  auto s = session::local();
  s.run(g.initializer());
  auto outcome = error_of([&] {
    s.run({{x, {1.0f, INFINITY}}}, {}, {add_node}, {.check_numerics = true});
  });
  CHECK_THAT(first_line(outcome.message()), Contains("AssignAdd 'more'"));
  CHECK_THAT(outcome.message(), Contains("\n  variable 'v' f32[2]: 1 of 2 values is not finite"));
  CHECK_THAT(outcome.message(), Contains("\n  input 0 'v' f32[2]: finite, from 1 to 2"));
  CHECK_THAT(outcome.message(), Contains("\n  input 1 '_feed_0/x' f32[2]: 1 of 2"));
  CHECK(error_of([&] { s.run({}, {}, {subtract_node}, {.check_numerics = true}); }).ok());
}

} // namespace troupe::test::insight_test
