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

status failure_of(auto&& body) {
  try {
    body();
  } catch (const error& e) {
    return {e.kind(), e.what()};
  }
  return {};
}

std::vector<std::string> names(const step_statistics& of, span_kind kind) {
  std::vector<std::string> found;
  for (const auto& task : of.tasks)
    for (const auto& span : task.spans)
      if (task.subject_of(span).kind == kind)
        found.push_back(task.subject_of(span).name);
  return found;
}

std::string first_line(const std::string& of) { return of.substr(0, of.find('\n')); }

} // namespace

TEST_CASE("a run tells what ran, when and where") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto scaled = mul(x, 3.0f, "scaled");
  auto y = add(scaled, x, "y");
  auto s = session::local({.passes = {.fuse = false}});
  step_statistics found;
  auto before = std::chrono::steady_clock::now();
  auto values = tensor::vector<float>(std::vector<float>(1000, 1.0f));
  s.run({{x, values}}, {y}, {}, {.statistics = &found});
  REQUIRE(found.tasks.size() == 1);
  const auto& task = found.tasks[0];
  CHECK(task.task == "/job:local/task:0");
  auto ran = names(found, span_kind::node);
  CHECK(std::ranges::count(ran, "scaled") == 1);
  CHECK(std::ranges::count(ran, "y") == 1);
  CHECK(task.peak_bytes >= 4000);
  CHECK(task.allocated_bytes >= 4000);
  CHECK(found.begin_ns >= before.time_since_epoch().count());
  CHECK(found.begin_ns <= task.begin_ns);
  CHECK(task.end_ns <= found.end_ns);
  for (const auto& span : task.spans) {
    CHECK(span.begin_ns >= task.begin_ns);
    CHECK(span.end_ns <= task.end_ns);
    CHECK(task.subject_of(span).device == "/job:local/task:0/device:cpu:0");
  }
  // The next run, and one that is not asked, leave nothing behind.
  s.run({{x, values}}, {y});
  auto prepared = s.prepare({x}, {y});
  prepared.run({values}, {.statistics = &found});
  CHECK(names(found, span_kind::node).size() == ran.size());
}

TEST_CASE("statistics tell what nodes within loops took, by the nest that they are in") {
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
  for (int i = 0; i < 2; ++i) { // the second has what is its own
    step_statistics found;
    train.run({tensor::vector(std::vector<float>(1000, 1))}, {.statistics = &found});
    const auto& task = found.tasks.at(0);
    std::map<std::string, const step_span*> inner;
    const step_span* whole = nullptr;
    for (const auto& one : task.spans)
      if (task.subject_of(one).kind == span_kind::inner)
        inner[task.subject_of(one).name] = &one;
      else if (task.subject_of(one).name == "train")
        whole = &one;
    REQUIRE(whole);
    REQUIRE(inner.contains("train [body] soft"));
    REQUIRE(inner.contains("train [body] rnn [body] added"));
    CHECK(inner.at("train [body] soft")->runs == 5);
    CHECK(inner.at("train [body] rnn")->runs == 5);
    CHECK(inner.at("train [body] rnn [body] added")->runs == 15);
    auto took = [](const step_span* one) { return one->end_ns - one->begin_ns; };
    CHECK(took(inner.at("train [body] rnn [body] added")) > 0);
    CHECK(took(inner.at("train [body] rnn [body] added")) <= took(inner.at("train [body] rnn")));
    CHECK(took(inner.at("train [body] rnn")) + took(inner.at("train [body] soft")) <=
          took(whole) + 1000);
  }
}

TEST_CASE("statistics tell what nodes of loops took whose turns overlap, or wait") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32}, {.capacity = 100});
  auto rows = g.placeholder(dtype::f32, {10, 1000}, "rows");
  auto* put = queue_enqueue_many(queue, {rows});
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
  s.run({{rows, tensor::of({10, 1000}, std::vector<float>(10'000, 1))}}, {}, {put});
  auto train = s.prepare({}, {y});
  for (int i = 0; i < 2; ++i) {
    step_statistics found;
    train.run({}, {.statistics = &found});
    const auto& task = found.tasks.at(0);
    std::map<std::string, const step_span*> inner;
    for (const auto& one : task.spans)
      if (task.subject_of(one).kind == span_kind::inner)
        inner[task.subject_of(one).name] = &one;
    for (const auto& [name, one] : inner)
      UNSCOPED_INFO(name << " " << one->runs);
    REQUIRE(inner.contains("train/soft"));
    CHECK(inner.at("train/soft")->runs == 5);
    CHECK(inner.at("train/soft")->begin_ns >= task.begin_ns);
    CHECK(inner.at("train/soft")->end_ns > inner.at("train/soft")->begin_ns);
    REQUIRE(inner.contains("train/rnn [body] added"));
    CHECK(inner.at("train/rnn [body] added")->runs == 15);
    CHECK(!task.spans.empty());
  }
}

TEST_CASE("steps of many threads make one trace that keeps the format's rules") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32}, {.capacity = 1});
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto* put = queue_enqueue(queue, {exp(x)});
  auto got = queue_dequeue(queue, {dtype::f32})[0];
  auto y = got * 2;
  auto s = session::local({.threads = {.inter_op = 2}});
  std::vector<step_statistics> steps(20);
  {
    auto taker = s.prepare({}, {y});
    auto giver = s.prepare({x}, {}, {put});
    std::jthread other{[&] {
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
  CHECK(std::ranges::count_if(trace["traceEvents"], [](const json& one) {
          return one["ph"] == "b" && one["cat"] == "wait";
        }) == 20);
}

TEST_CASE("a run without a waiting thread tells the same before its end is told") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = log(x, "y");
  auto s = session::local({.insight = {.sample_every = 1}});
  auto prepared = s.prepare({x}, {y});
  step_statistics found;
  prepared.run_async({tensor::scalar(1.0f)}, {.statistics = &found}).get();
  CHECK(names(found, span_kind::node) == std::vector<std::string>{"y"});
  CHECK(found.begin_ns <= found.tasks.at(0).begin_ns);
  CHECK(found.tasks.at(0).end_ns <= found.end_ns);
  CHECK(s.node_times().size() == 1);
  auto trapped = prepared.run_async({tensor::scalar(-1.0f)}, {.check_numerics = true});
  CHECK(failure_of([&] { trapped.get(); }).kind() == error_kind::invalid_argument);
}

TEST_CASE("a failed run tells how far it came") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x"), y = g.placeholder(dtype::f32, {-1}, "y");
  auto z = add(neg(x, "fine"), y, "unfit");
  auto s = session::local({.passes = {.fuse = false}});
  step_statistics found;
  auto why = failure_of([&] {
    s.run({{x, {1.0f, 2.0f}}, {y, {1.0f, 2.0f, 3.0f}}}, {z}, {}, {.statistics = &found});
  });
  CHECK(why.kind() == error_kind::invalid_argument);
  CHECK(names(found, span_kind::node) == std::vector<std::string>{"fine"});
}

TEST_CASE("a session that samples knows how long nodes take") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = exp(x, "y");
  auto s = session::local({.insight = {.sample_every = 3}});
  auto prepared = s.prepare({x}, {y});
  for (int i = 0; i < 7; ++i)
    prepared.run({tensor::scalar(1.0f)});
  auto known = s.node_times();
  auto found = std::ranges::find(known, "y", &node_time::node);
  REQUIRE(found != known.end());
  CHECK(found->runs == 3); // the first, the fourth and the seventh
  CHECK(found->mean_ns > 0);
  CHECK(found->device == "/job:local/task:0/device:cpu:0");
  CHECK(session::local().node_times().empty());
}

TEST_CASE("what a session was told of nodes is known with what it has measured") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = exp(x, "y");
  node_time known{.node = "elsewhere", .device = "/device:cpu:0", .runs = 3, .mean_ns = 70};
  auto s = session::local({.insight = {.sample_every = 1, .node_times = {known}}});
  s.fetch(y, {{x, 1.0f}});
  auto all = s.node_times();
  REQUIRE(all.size() == 2);
  CHECK(all[0].node == "elsewhere"); // by name
  CHECK(all[0].runs == 3);
  CHECK(all[0].mean_ns == 70);
  CHECK(all[1].node == "y");
}

TEST_CASE("to explain a step's placement runs nothing of it") {
  graph_builder g;
  auto count = g.variable(0, "count");
  auto more = assign_add(count, 1, "more");
  auto s = session::local();
  s.run(g.initializer());
  auto report = s.explain_placement({}, {more}, {g.initializer()});
  CHECK(std::ranges::count(report.nodes, "more", &placed_node::node) == 1);
  CHECK(to_scalar<int>(s.fetch(count)) == 0);
}

TEST_CASE("what a step did is listed by the begin of each part") {
  graph_builder g;
  auto x = g.constant(tensor::of<float>({200, 200}, std::vector<float>(40'000, 0.01f)));
  std::vector<edge> ends;
  for (int i = 0; i < 8; ++i) {
    auto y = x;
    for (int k = 0; k < 4; ++k)
      y = matmul(y, x) + static_cast<float>(i);
    ends.push_back(sum(y));
  }
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 4}, .passes = {.fold = false}});
  for (int i = 0; i < 3; ++i) {
    step_statistics found;
    s.run({}, ends, {}, {.statistics = &found});
    for (const auto& task : found.tasks) {
      CHECK(task.spans.size() > 30);
      CHECK(std::ranges::is_sorted(task.spans, {}, &step_span::begin_ns));
      for (const auto& one : task.memory) {
        CHECK(std::ranges::is_sorted(one.at_ns));
        CHECK(one.at_ns.size() == one.bytes.size());
      }
    }
  }
}

TEST_CASE("two graphs of a session whose nodes have the same name are measured apart") {
  auto s = session::local({.insight = {.sample_every = 1}});
  for (int runs : {2, 3}) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {-1}, "x");
    auto prepared = s.prepare({x}, {exp(x, "y")});
    for (int i = 0; i < runs; ++i)
      prepared.run({tensor::vector(std::vector<float>(static_cast<size_t>(runs)))});
  }
  auto known = s.node_times();
  auto found = std::ranges::find(known, "y", &node_time::node);
  REQUIRE(found != known.end());
  CHECK(found->runs == 3);
}

TEST_CASE("the trap names the first node that makes a NaN, its line, and what it was given") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto line = __LINE__ + 1;
  auto bad = log(x, "bad");
  auto y = neg(bad * 2);
  auto s = session::local({.passes = {.fuse = false}});
  auto run = [&](session& in, const run_options& options) {
    return failure_of([&] { in.run({{x, {2.0f, -1.0f}}}, {y}, {}, options); });
  };
  CHECK(run(s, {}).ok());
  auto trapping = session::local({.insight = {.check_numerics = true}});
  for (const auto& why : {run(s, {.check_numerics = true}), run(trapping, {})}) {
    CHECK(why.kind() == error_kind::invalid_argument);
    CHECK_THAT(first_line(why.message()),
               Contains(concat("Log 'bad' (insight_test.cpp:", line, ")")));
    CHECK_THAT(why.message(),
               Contains("\n  output 0 f32[2]: 1 of 2 values is not finite (1 NaN, 0 infinite), the "
                        "first at [1]; the others from 0.693147 to 0.693147"));
    CHECK_THAT(why.message(), Contains("\n  input 0 '_feed_0/x' f32[2]: finite, from -1 to 2"));
  }
  CHECK(failure_of([&] { trapping.run({{x, {1.0f, 2.0f}}}, {y}); }).ok());
  auto fused = session::local();
  CHECK_THAT(first_line(run(fused, {.check_numerics = true}).message()),
             Contains(concat("Log 'bad' (insight_test.cpp:", line, ")"))); // among the others
}

TEST_CASE("a training step whose weights overflow is caught where they do") {
  graph_builder g;
  auto w = g.variable(tensor::vector<float>({1e30f, 1}), "w");
  auto loss = sum(square(w));
  auto* train = gradient_descent{-1e10f}.minimize(loss);
  auto s = session::local({.insight = {.check_numerics = true}});
  s.run(g.initializer());
  auto why = failure_of([&] { s.run(train); });
  CHECK(why.kind() == error_kind::invalid_argument);
  CHECK_THAT(why.message(), Contains("1 of 2 values is not finite"));
}

TEST_CASE(
    "the trap looks at variables that a node changes, and blames no node for what was there") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto v = g.variable(tensor::vector<float>({1, 2}), "v");
  auto* more = assign_add(v, x, "more").node;
  auto* none = assign_sub(v, g.constant(tensor::vector<float>({0, 0})), "none").node;
  auto s = session::local();
  s.run(g.initializer());
  auto why = failure_of([&] {
    s.run({{x, {1.0f, INFINITY}}}, {}, {more}, {.check_numerics = true});
  });
  CHECK_THAT(first_line(why.message()), Contains("AssignAdd 'more'"));
  CHECK_THAT(why.message(), Contains("\n  variable 'v' f32[2]: 1 of 2 values is not finite"));
  CHECK_THAT(why.message(), Contains("\n  input 0 'v' f32[2]: finite, from 1 to 2"));
  CHECK_THAT(why.message(), Contains("\n  input 1 '_feed_0/x' f32[2]: 1 of 2"));
  CHECK(failure_of([&] { s.run({}, {}, {none}, {.check_numerics = true}); }).ok());
}

} // namespace troupe::test::insight_test
