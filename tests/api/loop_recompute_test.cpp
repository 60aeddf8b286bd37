// Gradients of loops that recompute their iterations to save memory.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <cmath>

namespace troupe::test::loop_recompute_test {
namespace {

using list = std::vector<edge>;

constexpr int64_t elements = 1 << 14;
constexpr size_t tensor_bytes = elements * sizeof(float);

// Iterations of several layers, each of whose outputs the gradient needs.
struct deep_loop {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, {elements}, "x");
  edge w = g.variable(1.5f, "w");
  edge loss, gradient, weight_gradient;

  explicit deep_loop(bool recompute, bool has_dropout = false) {
    g.set_random_seed(7);
    auto y = while_loop(
        {g.constant(0), x}, [&](auto& v) { return less(v[0], 20); },
        [&](auto& v) {
          auto h = v[1];
          for (int i = 0; i < 6; ++i)
            h = tanh(sin(h) * w);
          return list{v[0] + 1, has_dropout ? dropout(h, 0.5f) : h};
        },
        {.recompute = recompute})[1];
    loss = sum(y * y, 0);
    auto gradients = g.gradients(loss, {x, w});
    gradient = gradients[0];
    weight_gradient = gradients[1];
  }

  struct outcome {
    tensor gradient, weight_gradient;
    size_t peak_bytes;
  };
  outcome run(const session_options& options = {}) {
    std::vector<float> values(elements);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 1000) / 500 - 1;
    auto s = session::local(options);
    s.run(g.initializer());
    step_statistics statistics;
    auto results = s.run({{x, tensor::from_values({elements}, values)}},
                         {gradient, weight_gradient}, {}, {.statistics = &statistics});
    return {results[0], results[1], statistics.tasks.at(0).peak_bytes};
  }
};

} // namespace

TEST_CASE("a loop that recomputes its iterations has the same gradients in less memory") {
  deep_loop plain_loop{false}, recomputed_loop{true};
  for (const auto& passes_used : {pass_options{}, pass_options::none()}) {
    auto expected = plain_loop.run({.passes = passes_used}),
         recomputed = recomputed_loop.run({.passes = passes_used});
    INFO(expected.peak_bytes / tensor_bytes << " tensors, then "
                                            << recomputed.peak_bytes / tensor_bytes);
    CHECK(identical(recomputed.gradient, expected.gradient));
    CHECK(identical(recomputed.weight_gradient, expected.weight_gradient));
    CHECK(recomputed.peak_bytes < expected.peak_bytes / 3);
  }
}

TEST_CASE("random numbers of a loop are not drawn again") {
  deep_loop plain_loop{false, true}, recomputed_loop{true, true};
  session_options deterministic{.deterministic = true};
  auto expected = plain_loop.run(deterministic), recomputed = recomputed_loop.run(deterministic);
  CHECK(identical(recomputed.gradient, expected.gradient));
  CHECK(identical(recomputed.weight_gradient, expected.weight_gradient));
}

TEST_CASE("a loop that changes a variable is recomputed with the values it read") {
  for (auto recompute : {false, true}) {
    INFO("recompute: " << recompute);
    graph_builder g;
    auto x = g.placeholder(dtype::f64, shape{}, "x");
    auto v = g.variable(1.0, "v");
    auto y = while_loop(
        {g.constant(0), x}, [&](auto& a) { return less(a[0], 3); },
        [&](auto& a) {
          auto next = exp(a[1] * v * 0.01);
          assign_add(v, 10.0);
          return list{a[0] + 1, next};
        },
        {.recompute = recompute})[1];
    auto dx = g.gradients(y, {x})[0];
    auto s = session::local();
    s.run(g.initializer());
    double a = 2, slope = 1;
    for (double read : {1.0, 11.0, 21.0}) {
      a = std::exp(a * read * 0.01);
      slope *= a * read * 0.01;
    }
    CHECK(to_scalar<double>(s.fetch(dx, {{x, 2.0}})) == Approx(slope));
  }
}

namespace {

constexpr int nested_iterations = 8; // of each of two nested loops

edge three_layers(edge h, edge w) {
  for (int i = 0; i < 3; ++i)
    h = tanh(sin(h) * w);
  return h;
}

edge inner_scan(edge x, edge w, bool recompute) {
  auto xs = pack({x, x * 0.5f, x * 0.25f, x, x * 2.0f, x * 3.0f});
  auto scanned = scan({x}, {xs},
                      [&](auto& carry, auto& slices) -> scan_iteration {
                        auto next = three_layers(carry[0] + slices[0], w);
                        return {{next}, {next}};
                      },
                      {.recompute = recompute});
  return scanned.carry[0] + sum(scanned.outputs[0], {0});
}

edge inner_while(graph_builder& g, edge x, edge w, bool recompute) {
  return while_loop(
      {g.constant(0), x}, [&](auto& u) { return less(u[0], nested_iterations); },
      [&](auto& u) {
        auto next = cond(
            greater(sum(u[1]), -1e9f), [&] { return three_layers(u[1], w); },
            [&] { return u[1] * 2.0f; });
        return list{u[0] + 1, next};
      },
      {.recompute = recompute})[1];
}

edge nested_loops(graph_builder& g, edge x, edge w, const std::string& inner, bool recompute) {
  return while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], nested_iterations); },
      [&](auto& v) {
        return list{v[0] + 1, inner == "scan" ? inner_scan(v[1], w, recompute)
                                              : inner_while(g, v[1], w, recompute)};
      },
      {.recompute = recompute})[1];
}

} // namespace

TEST_CASE("an inner loop's tensors are kept for one outer iteration, where that is recomputed") {
  for (std::string inner : {"while", "scan"}) {
    std::vector<std::vector<tensor>> outcomes;
    std::vector<size_t> peaks;
    for (auto recompute : {false, true}) {
      graph_builder g;
      auto x = g.placeholder(dtype::f32, {elements}, "x");
      auto w = g.variable(1.5f, "w");
      auto gradients = g.gradients(sum(nested_loops(g, x, w, inner, recompute), 0), {x, w});
      auto s = session::local();
      s.run(g.initializer());
      step_statistics statistics;
      std::vector<float> values(elements, 0.5f);
      outcomes.push_back(s.run({{x, tensor::from_values({elements}, values)}}, gradients, {},
                               {.statistics = &statistics}));
      peaks.push_back(statistics.tasks.at(0).peak_bytes / tensor_bytes);
    }
    INFO(inner << ": " << peaks[0] << " tensors, then " << peaks[1]);
    for (size_t i = 0; i < 2; ++i)
      CHECK(identical(outcomes[1][i], outcomes[0][i]));
    // One tensor for each iteration of the outer loop, and the memory of one iteration.
    CHECK(peaks[0] > nested_iterations * 6 * 3);
    CHECK(peaks[1] < 2 * nested_iterations + 6 * 6);
  }
}

TEST_CASE("scans, recurrent nets, nested loops and second gradients may be recomputed") {
  auto gradients_of = [](bool recompute) -> std::vector<tensor> {
    graph_builder g;
    auto x = g.placeholder(dtype::f64, {-1, 2, 3}, "x");
    auto w =
        g.variable(tensor::from_values<double>({3, 3}, {.1, .2, .3, -.1, .4, 0, .2, -.3, .1}), "w");
    recurrent_cell cell = [&](edge input, const list& state) -> scan_iteration {
      auto next = tanh(matmul(input, w) + state[0]);
      return {{next}, {next * next}};
    };
    auto rnn =
        dynamic_rnn(x, {fill(g, {2, 3}, g.constant(0.1))}, cell,
                    {.lengths = g.constant(tensor::vector<int>({4, 2})), .recompute = recompute});
    auto nest = while_loop(
        {g.constant(0), rnn.carry[0]}, [&](auto& v) { return less(v[0], 2); },
        [&](auto& v) {
          auto inner = while_loop(
              {g.constant(0), v[1]}, [&](auto& u) { return less(u[0], 3); },
              [&](auto& u) {
                return list{u[0] + 1, sin(u[1]) * 1.1};
              },
              {.recompute = recompute})[1];
          auto chosen = cond(
              greater(sum(inner), 0.0), [&] { return exp(inner) * inner; },
              [&] { return inner * inner; });
          return list{v[0] + 1, chosen};
        },
        {.recompute = recompute})[1];
    auto loss = sum(nest) + sum(rnn.outputs[0]);
    auto first = g.gradients(loss, {w, x});
    auto second = g.gradients(sum(square(first[0])), {w})[0];
    auto s = session::local();
    s.run(g.initializer());
    std::vector<double> values(24);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<double>(i));
    return s.run({{x, tensor::from_values({4, 2, 3}, values)}}, {loss, first[0], first[1], second});
  };
  auto expected = gradients_of(false), recomputed = gradients_of(true);
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << i);
    for (int64_t k = 0; k < expected[i].elements(); ++k)
      CHECK(recomputed[i].data<double>()[k] == Approx(expected[i].data<double>()[k]));
  }
}

} // namespace troupe::test::loop_recompute_test
