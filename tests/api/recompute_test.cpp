// Gradients that recompute parts of the graph to save memory.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::test::recompute_test {

namespace {

constexpr int64_t elements = 1 << 16;
constexpr size_t tensor_bytes = elements * sizeof(float);

// Several blocks of layers whose outputs their gradients need.
struct chain {
  graph_builder g;
  edge x, loss, gradient;

  explicit chain(bool recompute, int blocks = 8, int layers = 6) {
    x = g.placeholder(dtype::f32, {elements}, "x");
    auto h = x;
    for (int i = 0; i < blocks; ++i) {
      auto block = [&] {
        for (int j = 0; j < layers; ++j)
          h = tanh(sin(h) * 1.5f);
      };
      if (recompute) {
        auto scope = g.recompute();
        block();
      } else {
        block();
      }
    }
    loss = sum(h * h, 0);
    gradient = g.gradients(loss, {x})[0];
  }

  std::pair<tensor, size_t> run(const session_options& options = {}) {
    std::vector<float> values(elements);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 1000) / 500 - 1;
    auto s = session::local(options);
    step_statistics statistics;
    auto results = s.run({{x, tensor::from_values({elements}, values)}}, {gradient, loss}, {},
                         {.statistics = &statistics});
    return {results[0], statistics.tasks.at(0).peak_bytes};
  }
};

bool are_identical(const tensor& a, const tensor& b) {
  return std::ranges::equal(a.values<float>(), b.values<float>());
}

size_t count(const graph& source, std::string_view op) {
  return static_cast<size_t>(std::ranges::count_if(
      source.nodes(), [&](const auto& graph_node) { return graph_node->op().name == op; }));
}

} // namespace

TEST_CASE("recomputed values give the same gradients and need less memory") {
  chain plain_chain{false}, recomputed_chain{true};
  for (const auto& passes_used :
       {pass_options{}, pass_options::none(), pass_options{.fuse = false}}) {
    auto [expected, plain_peak] =
        plain_chain.run({.threads = {.inter_op = 1}, .passes = passes_used});
    auto [actual, fewer] =
        recomputed_chain.run({.threads = {.inter_op = 1}, .passes = passes_used});
    INFO(plain_peak / tensor_bytes << " tensors, then " << fewer / tensor_bytes);
    CHECK(are_identical(actual, expected));
    CHECK(fewer < plain_peak / 2);
  }
}

TEST_CASE("random numbers are not drawn again") {
  graph_builder g;
  auto x = g.variable(tensor::vector<float>(std::vector<float>(100, 1)), "x");
  edge kept_edge;
  {
    auto recompute_scope = g.recompute();
    kept_edge = dropout(tanh(x), g.constant(0.5f));
  }
  auto loss = sum(square(kept_edge), 0);
  auto before = count(g, "RandomUniform");
  auto gradient = g.gradients(loss, {x})[0];
  CHECK(count(g, "RandomUniform") == before);
  auto s = session::local();
  s.run(g.initializer());
  auto results = s.run({}, {kept_edge, gradient});
  for (size_t i = 0; i < 100; ++i)
    CHECK((results[0].values<float>()[i] == 0) == (results[1].values<float>()[i] == 0));
}

TEST_CASE("a variable is not read again after an update that the first reader did not see") {
  graph_builder g;
  auto v = g.variable(2.0f, "v");
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  edge y;
  {
    auto recompute_scope = g.recompute();
    y = exp(mul(v, x));
  }
  edge loss;
  {
    auto* update = assign(v, add(v, mul(y, 0.0f)) + 1.0f).node;
    auto order = g.after({update});
    loss = square(identity(y));
  }
  auto gradient = g.gradients(loss, {x})[0];
  auto s = session::local();
  s.run(g.initializer());
  // d(exp(v x)^2)/dx = 2 v exp(2 v x), where the product reads v as 2; the product's own gradient
  // reads v after the update, with or without copies.
  auto results = s.run({{x, 0.5f}}, {gradient, loss});
  CHECK(to_scalar<float>(results[1]) == Approx(std::exp(2.0)));
  // As without a scope.
  CHECK(to_scalar<float>(results[0]) == Approx(3 * 2 * std::exp(2.0)).epsilon(1e-4));
}

TEST_CASE("optimizers respect recomputation, and models train equally") {
  auto trained = [](bool recompute, const session_options& options) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {-1, 4}, "x");
    auto w = g.variable(tensor::from_values<float>({4, 4}, std::vector<float>(16, 0.2f)), "w");
    auto b = g.variable(tensor::vector<float>({0.1f, 0.2f, 0.3f, 0.4f}), "b");
    auto h = x;
    for (int i = 0; i < 3; ++i) {
      auto block = [&] { h = relu(bias_add(matmul(tanh(h), w), b)); };
      if (recompute) {
        auto recompute_scope = g.recompute();
        block();
      } else {
        block();
      }
    }
    momentum minimizer{0.1};
    auto* train = minimizer.minimize(mean(square(h - 1.0f)));
    CHECK((count(g, "Tanh") > 3) == recompute);
    auto s = session::local(options);
    s.run(g.initializer());
    for (int i = 0; i < 5; ++i)
      s.run(train, {{x, tensor::from_values<float>({2, 4}, {1, 2, 3, 4, -1, -2, 0.5f, 0})}});
    return s.fetch(w);
  };
  CHECK(are_identical(trained(true, {}), trained(false, {})));
  // The rounding differs: a copy has other consumers than its original.
  for (auto type : {dtype::bf16, dtype::f16}) {
    auto expected = trained(false, {}),
         actual = trained(true, {.passes = {.mixed_precision = type}});
    for (size_t i = 0; i < 16; ++i)
      CHECK(actual.values<float>()[i] == Approx(expected.values<float>()[i]).margin(0.02));
  }
}

TEST_CASE("copies are named after the recomputed node and its source line") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2}, "x");
  edge y;
  {
    auto recompute_scope = g.recompute();
    {
      auto nested = g.recompute(); // part of the same scope
      auto scope = g.scope("block");
      y = tanh(square(x), "act");
    }
    y = sin(y);
  }
  auto gradient = g.gradients(sum(y, 0), {x})[0];
  REQUIRE_FALSE(gradient.is_empty());
  auto* copy = g.find("gradients/block/act");
  REQUIRE(copy);
  CHECK(copy->where().line() == g.find("block/act")->where().line());
  CHECK(copy->inputs()[0].node == g.find("gradients/block/Square"));
  CHECK(!g.find("gradients/block/Square")->controls().empty());
}

TEST_CASE("gradients of gradients go through copies") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  edge y;
  {
    auto recompute_scope = g.recompute();
    y = sin(x) * x;
  }
  auto first = g.gradients(y, {x})[0];
  auto second = g.gradients(first, {x})[0];
  auto s = session::local();
  auto results = s.run({{x, 0.7f}}, {first, second});
  CHECK(to_scalar<float>(results[0]) == Approx(std::cos(0.7) * 0.7 + std::sin(0.7)));
  CHECK(to_scalar<float>(results[1]) == Approx(2 * std::cos(0.7) - 0.7 * std::sin(0.7)));
}

} // namespace troupe::test::recompute_test
