// Floats that travel between tasks with half of their bytes.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

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
    uint32_t word = 0;
    std::memcpy(&word, &values[i], 4);
    word &= 0xffff0000;
    float upper = 0;
    std::memcpy(&upper, &word, 4);
    CHECK(truncated[i] == upper);
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

} // namespace troupe::test::f32_transfer_test
