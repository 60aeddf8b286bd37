// Floats that travel between tasks with half of their bytes.
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
  edge x, there, whole;

  two_tasks() {
    x = g.placeholder(dtype::f32, {-1}, "x");
    edge made, number;
    {
      auto on = g.on("/job:ps/task:0");
      made = x * 1.0f;
      number = cast(x, dtype::i32) * 3;
    }
    auto on = g.on("/job:worker/task:0");
    there = identity(made) + 0.0f;
    whole = number + 1;
  }

  std::vector<float> sent(f32_transfer how, const std::vector<float>& values,
                          uint64_t* bytes = nullptr) {
    auto s = session::connect(cluster,
                              {.passes = pass_options::none(), .cluster = {.between_tasks = how}});
    step_statistics statistics;
    auto found =
        s.run({{x, tensor::vector(values)}}, {there, whole}, {}, {.statistics = &statistics});
    for (int64_t i = 0; i < found[1].elements(); ++i)
      if (std::abs(values[static_cast<size_t>(i)]) < 1e6)
        CHECK(found[1].data<int32_t>()[i] ==
              static_cast<int32_t>(values[static_cast<size_t>(i)]) * 3 + 1);
    for (const auto& task : statistics.tasks)
      for (const auto& span : task.spans)
        if (bytes && task.subject_of(span).kind == span_kind::wait &&
            task.subject_of(span).op == "_Recv")
          *bytes = std::max(*bytes, span.bytes);
    auto all = found[0].values<float>();
    return {all.begin(), all.end()};
  }
};

// The bytes of each value that came from another task, by the name of what it was made of.
uint64_t received(const step_statistics& of, std::string_view name) {
  uint64_t bytes = 0;
  for (const auto& task : of.tasks)
    for (const auto& span : task.spans) {
      const auto& what = task.subject_of(span);
      if (what.kind == span_kind::wait && what.op == "_Recv" && what.name.ends_with(name))
        bytes += span.bytes;
    }
  return bytes;
}

// Not inline: GCC 12.2 leaves away the mask of one of the calls below.
[[gnu::noinline]] float upper_half(float of) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(of) & 0xffff0000);
}

} // namespace

TEST_CASE_METHOD(two_tasks, "floats may travel between tasks as their upper halves") {
  std::vector<float> values{0, 1, -2, 1.01171875f, -1.01171875f, 3.14159274f, 1e-37f, 3e38f};
  for (int i = 0; i < 1000; ++i)
    values.push_back(static_cast<float>(std::sin(i) * std::pow(10, i % 30 - 15)));
  uint64_t exact_bytes = 0, short_bytes = 0;
  CHECK(sent(f32_transfer::exact, values, &exact_bytes) == values);
  auto truncated = sent(f32_transfer::truncated, values, &short_bytes);
  auto rounded = sent(f32_transfer::rounded, values);
  CHECK(exact_bytes == values.size() * 4);
  CHECK(short_bytes == values.size() * 4); // the whole numbers
  for (size_t i = 0; i < values.size(); ++i) {
    INFO("value " << values[i]);
    CHECK(truncated[i] == upper_half(values[i]));
    CHECK(std::abs(truncated[i] - values[i]) <= std::ldexp(std::abs(values[i]), -7));
    CHECK(std::abs(rounded[i] - values[i]) <= std::ldexp(std::abs(values[i]), -8));
  }
  CHECK(truncated[3] == 1.0078125f);
  CHECK(rounded[3] == 1.015625f);
}

TEST_CASE_METHOD(two_tasks, "what is no number travels as such, however short") {
  auto nan = std::numeric_limits<float>::quiet_NaN(),
       large = std::numeric_limits<float>::infinity();
  uint32_t word = 0x7f800001; // a NaN whose upper half is that of infinity
  float odd = 0;
  std::memcpy(&odd, &word, 4);
  for (auto how : {f32_transfer::truncated, f32_transfer::rounded}) {
    auto found = sent(how, {nan, large, -large, odd});
    CHECK(std::isnan(found[0]));
    CHECK(found[1] == large);
    CHECK(found[2] == -large);
    CHECK(std::isnan(found[3]));
  }
}

TEST_CASE_METHOD(two_tasks, "training bears floats of 16 bits between its tasks") {
  graph_builder m;
  variable_handle w;
  {
    auto on = m.on("/job:ps/task:0");
    w = m.variable(tensor::vector<float>({0, 0}), "w");
  }
  auto on = m.on("/job:worker/task:0");
  auto inputs = m.placeholder(dtype::f32, {4, 2}, "inputs");
  auto wanted = m.constant(tensor::vector<float>({1, 2, 3, 4}));
  auto loss = mean(square(sum(inputs * w, 1) - wanted), {0});
  auto* train = gradient_descent{0.1}.minimize(loss);
  auto learned = [&](f32_transfer how) {
    auto s = session::connect(cluster, {.cluster = {.between_tasks = how},
                                        .container = concat("c", static_cast<int>(how))});
    s.run(m.initializer());
    tensor batch = tensor::of<float>({4, 2}, {1, 0, 0, 1, 1, 1, 1, 1.5f});
    for (int i = 0; i < 200; ++i)
      s.run({{inputs, batch}}, {}, {train});
    return to_scalar<float>(s.fetch(loss, {{inputs, batch}}));
  };
  CHECK(learned(f32_transfer::exact) < 1e-4);
  CHECK(learned(f32_transfer::rounded) < 1e-3);
  CHECK(learned(f32_transfer::truncated) < 1e-3);
}

TEST_CASE_METHOD(two_tasks,
                 "single values travel as their scopes say, others as the session does") {
  auto of_session = GENERATE(f32_transfer::exact, f32_transfer::truncated);
  graph_builder m;
  auto given = m.placeholder(dtype::f32, {4}, "given");
  edge usual, rounded, exact, marked, inner;
  {
    auto on = m.on("/job:ps/task:0");
    usual = mul(given, 2.0f, "usual");
    {
      auto short_ones = m.transfer(f32_transfer::rounded);
      rounded = mul(given, 1.5f, "rounded");
      marked = identity(usual, "marked");
      auto long_ones = m.transfer(f32_transfer::exact);
      exact = mul(given, 3.0f, "exact");
    }
    inner = mul(given, 5.0f, "inner"); // no scope holds it
  }
  auto on = m.on("/job:worker/task:0");
  std::vector<edge> there;
  for (auto one : {usual, rounded, exact, marked, inner})
    there.push_back(neg(one));
  const std::vector<float> values{1.01171875f, -3.14159274f, 0.1f, 1e-20f};
  auto s = session::connect(cluster, {.cluster = {.between_tasks = of_session}});
  step_statistics told;
  auto found = s.run({{given, tensor::vector(values)}}, there, {}, {.statistics = &told});
  auto is_exact = of_session == f32_transfer::exact;
  auto as_session = [=](float x) { return is_exact ? x : upper_half(x); };
  auto as_rounded = [](float x) { return static_cast<float>(bfloat16(x)); };
  for (size_t i = 0; i < values.size(); ++i) {
    INFO("value " << values[i]);
    auto x = values[i];
    CHECK(-found[0].values<float>()[i] == as_session(x * 2.0f));
    CHECK(-found[1].values<float>()[i] == as_rounded(x * 1.5f));
    CHECK(-found[2].values<float>()[i] == x * 3.0f);
    CHECK(-found[3].values<float>()[i] == as_rounded(x * 2.0f));
    CHECK(-found[4].values<float>()[i] == as_session(x * 5.0f));
  }
  auto session_bytes = is_exact ? 16u : 8u;
  CHECK(received(told, "usual") == session_bytes);
  CHECK(received(told, "rounded") == 8);
  CHECK(received(told, "exact") == 16);
  CHECK(received(told, "marked") == 8);
  CHECK(received(told, "inner") == session_bytes);
}

TEST_CASE_METHOD(two_tasks, "variables and gradients may be those that travel short") {
  graph_builder m;
  variable_handle w;
  {
    auto on = m.on("/job:ps/task:0");
    auto shorter = m.transfer(f32_transfer::truncated);
    w = m.variable(tensor::vector<float>({0.1f, 0.2f}), "w");
  }
  auto on = m.on("/job:worker/task:0");
  auto factor = m.placeholder(dtype::f32, {2}, "factor");
  auto seen = neg(w);
  auto loss = sum(w * factor, {0});
  node* train = nullptr;
  {
    auto shorter = m.transfer(f32_transfer::rounded);
    train = gradient_descent{1}.minimize(loss);
  }
  auto s = session::connect(cluster);
  s.run(m.initializer());
  step_statistics told;
  auto before = s.run({}, {seen}, {}, {.statistics = &told}).front();
  CHECK(-before.values<float>()[0] == upper_half(0.1f));
  CHECK(received(told, "/w") == 4);
  s.run({{factor, tensor::vector<float>({0.3f, 1.01171875f})}}, {}, {train});
  auto after = s.fetch(w); // on its own task it is what it is
  CHECK(after.values<float>()[0] == 0.1f - static_cast<float>(bfloat16(0.3f)));
  CHECK(after.values<float>()[1] == 0.2f - 1.015625f);
}

TEST_CASE("members of a collective operation get the same short floats, and must agree on them") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto one = start_task(cluster, {"worker", 0}), other = start_task(cluster, {"worker", 1});
  graph_builder m;
  auto given = m.placeholder(dtype::f32, {100'000}, "given");
  std::vector<edge> parts;
  for (int i = 0; i < 2; ++i) {
    auto on = m.on(concat("/job:worker/task:", i, "/cpu:0"));
    parts.push_back(given * (i + 1.0f));
  }
  std::vector<edge> sums;
  {
    auto shorter = m.transfer(f32_transfer::rounded);
    sums = all_reduce(parts, reduce_by::sum);
  }
  auto s = session::connect(cluster);
  auto values = tensor::of({100'000}, std::vector<float>(100'000, 1.01171875f));
  auto found = s.run({{given, values}}, sums);
  CHECK(found[0].values<float>()[5] == found[1].values<float>()[5]);
  CHECK(found[0].values<float>()[5] != 3 * 1.01171875f);
  CHECK(found[0].values<float>()[5] == Approx(3 * 1.01171875f).epsilon(1.0 / 64));

  graph_builder bad;
  auto x = bad.placeholder(dtype::f32, {4}, "x");
  std::vector<edge> apart;
  for (int i = 0; i < 2; ++i) {
    auto on = bad.on(concat("/job:worker/task:", i, "/cpu:0"));
    apart.push_back(x * 2.0f);
  }
  auto sum = all_reduce(apart, reduce_by::sum);
  auto graph = write_graph_def(bad, graph_def_format::text);
  REQUIRE(graph);
  auto at = graph->find("op: \"CollectiveReduce\"");
  REQUIRE(at != std::string::npos);
  graph->insert(at, "attr { key: '_f32_transfer' value { s: 'rounded' } } ");
  graph_builder read;
  REQUIRE(read_graph_def_text(*graph, read).ok());
  CHECK_THROWS_WITH(
      s.run({{*read.find_edge("x"), tensor::vector<float>({1, 2, 3, 4})}},
            {*read.find_edge(sum[0].node->name()), *read.find_edge(sum[1].node->name())}),
      Catch::Matchers::Contains("must have the same _f32_transfer"));
}

} // namespace troupe::test::f32_transfer_test
