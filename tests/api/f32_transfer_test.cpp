// Floats that are sent between tasks with half of their bytes.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace troupe::test::f32_transfer_test {
namespace {

struct two_tasks {
  watchdog watch;
  cluster_spec cluster = make_cluster(1, 1);
  std::unique_ptr<task> ps = start_task(cluster, {"ps", 0}),
                        worker = start_task(cluster, {"worker", 0});
  graph_builder g;
  edge x, float_copy, integer_copy;

  two_tasks() {
    x = g.placeholder(dtype::f32, {-1}, "x");
    edge produced, number;
    {
      auto placement = g.on("/job:ps/task:0");
      produced = x * 1.0f;
      number = cast(x, dtype::i32) * 3;
    }
    auto placement = g.on("/job:worker/task:0");
    float_copy = identity(produced) + 0.0f;
    integer_copy = number + 1;
  }

  std::vector<float> transferred(f32_transfer mode, const std::vector<float>& values,
                                 uint64_t* bytes = nullptr) {
    auto s = session::connect(
        cluster, {.passes = pass_options::none(), .cluster = {.transfer_precision = mode}});
    step_statistics statistics;
    auto results = s.run({{x, tensor::vector(values)}}, {float_copy, integer_copy}, {},
                         {.statistics = &statistics});
    for (int64_t i = 0; i < results[1].elements(); ++i)
      if (std::abs(values[static_cast<size_t>(i)]) < 1e6)
        CHECK(results[1].data<int32_t>()[i] ==
              static_cast<int32_t>(values[static_cast<size_t>(i)]) * 3 + 1);
    for (const auto& task : statistics.tasks)
      for (const auto& span : task.spans)
        if (bytes && task.subject_of(span).kind == span_kind::wait &&
            task.subject_of(span).op == "_Recv")
          *bytes = std::max(*bytes, span.bytes);
    auto values_found = results[0].values<float>();
    return {values_found.begin(), values_found.end()};
  }
};

// The bytes of each value received from another task, by the name of its producer.
uint64_t received(const step_statistics& statistics, std::string_view name) {
  uint64_t bytes = 0;
  for (const auto& task : statistics.tasks)
    for (const auto& span : task.spans) {
      const auto& subject = task.subject_of(span);
      if (subject.kind == span_kind::wait && subject.op == "_Recv" && subject.name.ends_with(name))
        bytes += span.bytes;
    }
  return bytes;
}

// Not inline: GCC 12.2 drops the mask of one of the calls below.
[[gnu::noinline]] float upper_half(float number) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(number) & 0xffff0000);
}

} // namespace

TEST_CASE_METHOD(two_tasks, "floats may be sent between tasks as their upper halves") {
  std::vector<float> values{0, 1, -2, 1.01171875f, -1.01171875f, 3.14159274f, 1e-37f, 3e38f};
  for (int i = 0; i < 1000; ++i)
    values.push_back(static_cast<float>(std::sin(i) * std::pow(10, i % 30 - 15)));
  uint64_t exact_bytes = 0, short_bytes = 0;
  CHECK(transferred(f32_transfer::exact, values, &exact_bytes) == values);
  auto truncated = transferred(f32_transfer::truncated, values, &short_bytes);
  auto rounded = transferred(f32_transfer::rounded, values);
  CHECK(exact_bytes == values.size() * 4);
  CHECK(short_bytes == values.size() * 4); // the integers
  for (size_t i = 0; i < values.size(); ++i) {
    INFO("value " << values[i]);
    CHECK(truncated[i] == upper_half(values[i]));
    CHECK(std::abs(truncated[i] - values[i]) <= std::ldexp(std::abs(values[i]), -7));
    CHECK(std::abs(rounded[i] - values[i]) <= std::ldexp(std::abs(values[i]), -8));
  }
  CHECK(truncated[3] == 1.0078125f);
  CHECK(rounded[3] == 1.015625f);
}

TEST_CASE_METHOD(two_tasks, "a NaN stays a NaN, however it is rounded") {
  auto nan = std::numeric_limits<float>::quiet_NaN(),
       large = std::numeric_limits<float>::infinity();
  uint32_t nan_bits = 0x7f800001; // a NaN whose upper half is that of infinity
  float odd_nan = 0;
  std::memcpy(&odd_nan, &nan_bits, 4);
  for (auto mode : {f32_transfer::truncated, f32_transfer::rounded}) {
    auto transferred_values = transferred(mode, {nan, large, -large, odd_nan});
    CHECK(std::isnan(transferred_values[0]));
    CHECK(transferred_values[1] == large);
    CHECK(transferred_values[2] == -large);
    CHECK(std::isnan(transferred_values[3]));
  }
}

TEST_CASE_METHOD(two_tasks, "training converges with 16-bit floats between its tasks") {
  graph_builder m;
  variable_handle w;
  {
    auto placement = m.on("/job:ps/task:0");
    w = m.variable(tensor::vector<float>({0, 0}), "w");
  }
  auto placement = m.on("/job:worker/task:0");
  auto inputs = m.placeholder(dtype::f32, {4, 2}, "inputs");
  auto target = m.constant(tensor::vector<float>({1, 2, 3, 4}));
  auto loss = mean(square(sum(inputs * w, 1) - target), {0});
  auto* train = gradient_descent{0.1}.minimize(loss);
  auto learned = [&](f32_transfer mode) {
    auto s = session::connect(cluster, {.cluster = {.transfer_precision = mode},
                                        .container = concat("c", static_cast<int>(mode))});
    s.run(m.initializer());
    tensor batch = tensor::from_values<float>({4, 2}, {1, 0, 0, 1, 1, 1, 1, 1.5f});
    for (int i = 0; i < 200; ++i)
      s.run({{inputs, batch}}, {}, {train});
    return to_scalar<float>(s.fetch(loss, {{inputs, batch}}));
  };
  CHECK(learned(f32_transfer::exact) < 1e-4);
  CHECK(learned(f32_transfer::rounded) < 1e-3);
  CHECK(learned(f32_transfer::truncated) < 1e-3);
}

TEST_CASE_METHOD(two_tasks,
                 "a scope decides the format of its values, the session that of all others") {
  auto session_mode = GENERATE(f32_transfer::exact, f32_transfer::truncated);
  graph_builder m;
  auto fed = m.placeholder(dtype::f32, {4}, "given");
  edge usual, rounded, exact, marked, inner;
  {
    auto placement = m.on("/job:ps/task:0");
    usual = mul(fed, 2.0f, "usual");
    {
      auto rounded_scope = m.transfer(f32_transfer::rounded);
      rounded = mul(fed, 1.5f, "rounded");
      marked = identity(usual, "marked");
      auto exact_scope = m.transfer(f32_transfer::exact);
      exact = mul(fed, 3.0f, "exact");
    }
    inner = mul(fed, 5.0f, "inner"); // outside of the scopes
  }
  auto placement = m.on("/job:worker/task:0");
  std::vector<edge> received_edges;
  for (auto source_edge : {usual, rounded, exact, marked, inner})
    received_edges.push_back(neg(source_edge));
  const std::vector<float> values{1.01171875f, -3.14159274f, 0.1f, 1e-20f};
  auto s = session::connect(cluster, {.cluster = {.transfer_precision = session_mode}});
  step_statistics statistics;
  auto results =
      s.run({{fed, tensor::vector(values)}}, received_edges, {}, {.statistics = &statistics});
  auto is_exact = session_mode == f32_transfer::exact;
  auto as_session = [=](float x) { return is_exact ? x : upper_half(x); };
  auto as_rounded = [](float x) { return static_cast<float>(bfloat16(x)); };
  for (size_t i = 0; i < values.size(); ++i) {
    INFO("value " << values[i]);
    auto x = values[i];
    CHECK(-results[0].values<float>()[i] == as_session(x * 2.0f));
    CHECK(-results[1].values<float>()[i] == as_rounded(x * 1.5f));
    CHECK(-results[2].values<float>()[i] == x * 3.0f);
    CHECK(-results[3].values<float>()[i] == as_rounded(x * 2.0f));
    CHECK(-results[4].values<float>()[i] == as_session(x * 5.0f));
  }
  auto session_bytes = is_exact ? 16u : 8u;
  CHECK(received(statistics, "usual") == session_bytes);
  CHECK(received(statistics, "rounded") == 8);
  CHECK(received(statistics, "exact") == 16);
  CHECK(received(statistics, "marked") == 8);
  CHECK(received(statistics, "inner") == session_bytes);
}

TEST_CASE_METHOD(two_tasks, "variables and gradients may be sent as 16-bit floats") {
  graph_builder m;
  variable_handle w;
  {
    auto placement = m.on("/job:ps/task:0");
    auto shorter = m.transfer(f32_transfer::truncated);
    w = m.variable(tensor::vector<float>({0.1f, 0.2f}), "w");
  }
  auto placement = m.on("/job:worker/task:0");
  auto factor = m.placeholder(dtype::f32, {2}, "factor");
  auto negated = neg(w);
  auto loss = sum(w * factor, {0});
  node* train = nullptr;
  {
    auto shorter = m.transfer(f32_transfer::rounded);
    train = gradient_descent{1}.minimize(loss);
  }
  auto s = session::connect(cluster);
  s.run(m.initializer());
  step_statistics statistics;
  auto before = s.run({}, {negated}, {}, {.statistics = &statistics}).front();
  CHECK(-before.values<float>()[0] == upper_half(0.1f));
  CHECK(received(statistics, "/w") == 4);
  s.run({{factor, tensor::vector<float>({0.3f, 1.01171875f})}}, {}, {train});
  auto after = s.fetch(w); // on its own task the value is exact
  CHECK(after.values<float>()[0] == 0.1f - static_cast<float>(bfloat16(0.3f)));
  CHECK(after.values<float>()[1] == 0.2f - 1.015625f);
}

TEST_CASE("members of a collective operation get the same rounded floats, and must agree on them") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}),
       second_task = start_task(cluster, {"worker", 1});
  graph_builder m;
  auto fed = m.placeholder(dtype::f32, {100'000}, "given");
  std::vector<edge> parts;
  for (int i = 0; i < 2; ++i) {
    auto placement = m.on(concat("/job:worker/task:", i, "/cpu:0"));
    parts.push_back(fed * (i + 1.0f));
  }
  std::vector<edge> sums;
  {
    auto shorter = m.transfer(f32_transfer::rounded);
    sums = all_reduce(parts, reduce_by::sum);
  }
  auto s = session::connect(cluster);
  auto values = tensor::from_values({100'000}, std::vector<float>(100'000, 1.01171875f));
  auto results = s.run({{fed, values}}, sums);
  CHECK(results[0].values<float>()[5] == results[1].values<float>()[5]);
  CHECK(results[0].values<float>()[5] != 3 * 1.01171875f);
  CHECK(results[0].values<float>()[5] == Approx(3 * 1.01171875f).epsilon(1.0 / 64));

  graph_builder bad_graph;
  auto x = bad_graph.placeholder(dtype::f32, {4}, "x");
  std::vector<edge> distinct_edges;
  for (int i = 0; i < 2; ++i) {
    auto placement = bad_graph.on(concat("/job:worker/task:", i, "/cpu:0"));
    distinct_edges.push_back(x * 2.0f);
  }
  auto sum = all_reduce(distinct_edges, reduce_by::sum);
  auto graph = write_graph_def(bad_graph, graph_def_format::text);
  REQUIRE(graph);
  auto position = graph->find("op: \"CollectiveReduce\"");
  REQUIRE(position != std::string::npos);
  graph->insert(position, "attr { key: '_f32_transfer' value { s: 'rounded' } } ");
  graph_builder read;
  REQUIRE(read_graph_def_text(*graph, read).ok());
  CHECK_THROWS_WITH(
      s.run({{*read.find_edge("x"), tensor::vector<float>({1, 2, 3, 4})}},
            {*read.find_edge(sum[0].node->name()), *read.find_edge(sum[1].node->name())}),
      Catch::Matchers::Contains("must have the same _f32_transfer"));
}

} // namespace troupe::test::f32_transfer_test
