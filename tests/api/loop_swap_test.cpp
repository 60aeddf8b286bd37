// Loops that swap the tensors their gradients need to files.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::loop_swap_test {
namespace {

using list = std::vector<edge>;

constexpr int64_t elements = 1 << 16;
constexpr size_t tensor_bytes = elements * sizeof(float);

tensor some_numbers() {
  std::vector<float> numbers(elements);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i % 1000) / 500 - 1;
  return tensor::from_values({elements}, numbers);
}

struct outcome {
  tensor gradient;
  size_t peak_bytes;
};

outcome run(graph_builder& g, edge x, edge gradient, const session_options& options = {}) {
  auto s = session::local(options);
  s.run(g.initializer());
  step_statistics statistics;
  auto results = s.run({{x, some_numbers()}}, {gradient}, {}, {.statistics = &statistics});
  return {results[0], statistics.tasks.at(0).peak_bytes};
}

outcome run_loop(bool swap, const session_options& options = {}) {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {elements}, "x");
  auto y = while_loop(
      {g.constant(0), x}, [](auto& v) { return less(v[0], 100); },
      [](auto& v) {
        return list{v[0] + 1, tanh(sin(v[1]) * 1.1f)};
      },
      {.swap_memory = swap})[1];
  return run(g, x, g.gradients(sum(y * y, 0), {x})[0], options);
}

} // namespace

TEST_CASE("a loop that swaps has the same gradient within too little memory") {
  auto expected = run_loop(false);
  CHECK(expected.peak_bytes > 100 * tensor_bytes);
  for (const auto& passes_used : {pass_options{}, pass_options::none()}) {
    session_options little{.memory = {.limit = 20 * tensor_bytes}, .passes = passes_used};
    CHECK_THROWS_WITH(run_loop(false, little), Catch::Contains("out of memory"));
    auto swapped_result = run_loop(true, little);
    CHECK(identical(swapped_result.gradient, expected.gradient));
    CHECK(swapped_result.peak_bytes < 20 * tensor_bytes);
  }
}

TEST_CASE(
    "nested loops, branches and calls in a loop that swaps keep their tensors in files as well") {
  auto nest = [](bool swap, const session_options& options = {}) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {elements}, "x");
    auto y = while_loop(
        {g.constant(0), x}, [](auto& v) { return less(v[0], 10); },
        [](auto& v) {
          auto inner = while_loop(
              {v[0], v[1]}, [](auto& u) { return less(u[0], 10); },
              [](auto& u) {
                return list{u[0] + 1, sin(u[1]) * 1.1f};
              })[1];
          auto chosen = cond(
              less(v[0], 5), [&] { return list{tanh(sin(inner))}; },
              [&] { return list{inner * inner}; })[0];
          return list{v[0] + 1, chosen};
        },
        {.swap_memory = swap})[1];
    return run(g, x, g.gradients(sum(y * y, 0), {x})[0], options);
  };
  auto expected = nest(false);
  CHECK(expected.peak_bytes > 60 * tensor_bytes);
  auto nested_result = nest(true, {.memory = {.limit = 40 * tensor_bytes}});
  CHECK(identical(nested_result.gradient, expected.gradient));
}

TEST_CASE("a recurrent net and a scan swap as well") {
  auto net = [](bool swap, const session_options& options = {}) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {elements}, "x");
    auto steps = reshape(x, {16, 64, 64});
    auto w = g.variable(tensor::from_values({64, 64}, std::vector<float>(64 * 64, 0.01f)), "w");
    auto cell = [&](edge input, auto& state) -> scan_iteration {
      auto next = tanh(matmul(input, w) + matmul(state[0], w));
      return {{next}, {next}};
    };
    auto rnn_results =
        dynamic_rnn(steps, {zeros_like(gather(steps, 0))}, cell, {.swap_memory = swap});
    auto sums = scan({zeros_like(gather(steps, 0))}, {rnn_results.outputs[0]},
                     [](auto& carry, auto& slices) -> scan_iteration {
                       auto next = sin(carry[0]) + slices[0];
                       return {{next}, {next}};
                     },
                     {.swap_memory = swap});
    return run(g, x, g.gradients(sum(sums.outputs[0] * sums.outputs[0]), {x})[0], options);
  };
  CHECK(identical(net(true).gradient, net(false).gradient));
}

TEST_CASE("a loop whose swap space is full fails with its node and a remedy") {
  session_options full{.memory = {.swap_space = {.limit = 10 * tensor_bytes}}};
  CHECK_THROWS_WITH(run_loop(true, full), Catch::Contains("swap files in") &&
                                              Catch::Contains("While") &&
                                              Catch::Contains("their limit is 2621440"));
  session_options unusable_folder{.memory = {.swap_space = {.folder = "/nowhere"}}};
  CHECK_THROWS_WITH(run_loop(true, unusable_folder), Catch::Contains("cannot make a swap file"));
}

TEST_CASE("a stack swaps on request") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {elements}, "x");
  auto stack = new_stack_v2(g, -1, dtype::f32);
  auto pushed = stack_push_v2(stack, x * 2.0f, {.swap_memory = true});
  auto order = g.after({pushed.node});
  auto popped = stack_pop_v2(stack, dtype::f32);
  auto swapping_session =
      session::local({.memory = {.swap_space = {.folder = ".", .limit = tensor_bytes}}});
  auto popped_value = swapping_session.run({{x, some_numbers()}}, {popped})[0];
  CHECK(popped_value.values<float>()[999] == 2 * some_numbers().values<float>()[999]);
  auto full = session::local({.memory = {.swap_space = {.folder = ".", .limit = 1}}});
  CHECK_THROWS_WITH(full.run({{x, some_numbers()}}, {popped}), Catch::Contains("swap files in"));
  // In a graph of TensorFlow's, the attribute is only a hint.
  auto limited_session = session::local({.memory = {.swap_space = {.limit = 1}}});
  CHECK(identical(limited_session.run({{x, some_numbers()}}, {popped})[0], popped_value));
}

} // namespace troupe::test::loop_swap_test
