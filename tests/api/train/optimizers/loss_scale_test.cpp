// Loss scaling, which keeps f16 gradients above zero; and networks that train with it.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <limits>
#include <random>

namespace troupe::test::loss_scale_test {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

float number(session& s, edge output, const std::vector<feed>& feeds = {}) {
  return to_scalar<float>(s.fetch(output, feeds));
}

std::vector<float> values_of(const tensor& input) {
  return {input.values<float>().begin(), input.values<float>().end()};
}

} // namespace

TEST_CASE("a scaled loss has the same gradients, and trains the same") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2, 3}, "x");
  auto w = g.variable(tensor::from_values<float>({3, 2}, {1, -2, 3, 0.5, 0.25, -1}), "w");
  auto loss = mean(square(tanh(matmul(x, w))));
  auto plain = optimizer::compute_gradients(loss)[0].gradient;
  auto constant = loss_scale::constant(g, 1024);
  auto dynamic = loss_scale::dynamic(g, {.initial = 256});
  auto fixed = constant.compute_gradients(loss);
  auto moving = dynamic.compute_gradients(loss);
  REQUIRE(fixed.size() == 1); // the scale itself is not trained
  REQUIRE(moving.size() == 1);
  auto s = session::local();
  s.run(g.initializer());
  auto results = s.run({{x, tensor::from_values<float>({2, 3}, {1, 2, 3, -1, 0.5, 0})}},
                       {plain, fixed[0].gradient, moving[0].gradient});
  for (size_t i = 0; i < 6; ++i) {
    CHECK(values_of(results[1])[i] == Approx(values_of(results[0])[i]));
    CHECK(values_of(results[2])[i] == Approx(values_of(results[0])[i]));
  }
}

TEST_CASE("a dynamic scale grows after good steps and shrinks after bad ones, within bounds") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto w = g.variable(1.0f, "w");
  gradient_descent minimizer{0.0};
  auto scale = loss_scale::dynamic(
      g, {.initial = 8, .factor = 2, .grow_every = 3, .minimum = 2, .maximum = 32});
  auto* train = scale.minimize(minimizer, w * x);
  auto s = session::local();
  s.run(g.initializer());
  std::vector<float> scales;
  auto finite_feed = feed{x, 1.0f}, infinite_feed = feed{x, infinity};
  for (const auto& step_feed :
       {finite_feed,   finite_feed,   finite_feed,   finite_feed,   infinite_feed,
        finite_feed,   finite_feed,   finite_feed,   finite_feed,   finite_feed,
        finite_feed,   finite_feed,   finite_feed,   finite_feed,   infinite_feed,
        infinite_feed, infinite_feed, infinite_feed, infinite_feed, infinite_feed}) {
    s.run(train, {step_feed});
    scales.push_back(number(s, scale.value()));
  }
  CHECK(scales ==
        std::vector<float>{8, 8, 16, 16, 8, 8, 8, 16, 16, 16, 32, 32, 32, 32, 16, 8, 4, 2, 2, 2});
}

TEST_CASE(
    "a step whose gradient is not finite leaves variables and slots of all optimizers alone") {
  gradient_descent plain{0.1};
  momentum heavy{0.1};
  adagrad sums{0.1};
  proximal_adagrad proximal{0.1, {.l1 = 0.1}};
  adadelta rates{0.1};
  rmsprop rms{0.1, {.momentum = 0.5}};
  rmsprop deviations{0.1, {.momentum = 0.5, .centered = true}};
  adam moments{0.1};
  ftrl leader{0.1, {.l1 = 0.01}};
  int optimizer_index = 0;
  for (optimizer* minimizer : std::initializer_list<optimizer*>{
           &plain, &heavy, &sums, &proximal, &rates, &rms, &deviations, &moments, &leader}) {
    INFO("optimizer " << optimizer_index++);
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {2}, "x");
    auto w = g.variable(tensor::vector<float>({1, -2}), "w");
    auto u = g.variable(tensor::vector<float>({3, 4}), "u");
    auto loss = sum(w * x) + sum(square(u) * 0.5f) + sum(square(w));
    auto scale = loss_scale::dynamic(g, {.initial = 4});
    auto* train = scale.minimize(*minimizer, loss);
    auto s = session::local();
    s.run(g.initializer());
    std::vector<edge> fetches;
    for (const auto& variable : g.variables())
      if (variable.name().find("loss_scale") == std::string::npos)
        fetches.push_back(variable);
    auto state = [&] {
      std::vector<std::vector<float>> result;
      for (const auto& value : s.run({}, fetches))
        result.push_back(values_of(value));
      return result;
    };
    auto finite_input = tensor::vector<float>({0.5, -1});
    s.run(train, {{x, finite_input}});
    s.run(train, {{x, finite_input}});
    auto before = state();
    for (auto bad_number : {infinity, -infinity, std::nanf("")})
      s.run(train, {{x, tensor::vector<float>({bad_number, 1})}});
    CHECK(state() == before);
    CHECK(number(s, scale.value()) == 1); // 4 was halved down to the minimum
    s.run(train, {{x, finite_input}});
    CHECK(state() != before);
  }
}

TEST_CASE("sparse gradients of rows stay sparse") {
  graph_builder g;
  auto rows = g.placeholder(dtype::i32, {2}, "rows");
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto table = g.variable(tensor::from_values<float>({4, 2}, {1, 1, 1, 1, 1, 1, 1, 1}), "table");
  auto loss = sum(gather(table, rows) * x);
  auto scale = loss_scale::dynamic(g, {.initial = 16});
  auto gradients = scale.compute_gradients(loss);
  REQUIRE(gradients.size() == 1);
  CHECK(slices_of(gradients[0].gradient));
  momentum minimizer{0.5};
  auto* train = scale.apply_gradients(minimizer, gradients);
  auto s = session::local();
  s.run(g.initializer());
  auto row_numbers = tensor::vector<int32_t>({2, 2});
  s.run(train, {{rows, row_numbers}, {x, 1.0f}});
  s.run(train, {{rows, row_numbers}, {x, infinity}});
  CHECK(values_of(s.fetch(table)) == std::vector<float>{1, 1, 1, 1, 0, 0, 1, 1});
}

TEST_CASE("gradients that f16 would round to zero train with a scale, and not without one") {
  // Gradients of about 1e-8: the smallest f16 is 6e-8.
  auto after_training = [](bool scaled) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {-1, 4}, "x");
    auto y = g.placeholder(dtype::f32, {-1, 1}, "y");
    auto first = g.variable(
        tensor::from_values<float>({4, 4}, {0.5f, -0.3f, 0.2f, 0.1f, 0.4f, 0.3f, -0.2f, 0.6f, -0.5f,
                                            0.2f, 0.7f, 0.3f, 0.1f, 0.5f, 0.3f, -0.4f}),
        "first");
    auto second =
        g.variable(tensor::from_values<float>({4, 1}, {0.5f, -0.4f, 0.3f, 0.6f}), "second");
    auto error = matmul(relu(matmul(x, first)), second) - y;
    auto loss = mean(square(error)) * 1e-8f;
    gradient_descent minimizer{1e7};
    auto* train = scaled ? loss_scale::dynamic(g, {.initial = 1 << 24, .maximum = 1 << 28})
                               .minimize(minimizer, loss)
                         : minimizer.minimize(loss);
    auto s = session::local({.passes = {.mixed_precision = dtype::f16}});
    s.run(g.initializer());
    std::mt19937 generator{1};
    std::normal_distribution<float> normal;
    std::vector<float> xs(64 * 4), ys(64);
    for (auto& number : xs)
      number = normal(generator);
    for (size_t i = 0; i < ys.size(); ++i)
      ys[i] = std::abs(xs[4 * i]) + 0.5f * xs[4 * i + 1];
    std::vector<feed> feeds{{x, tensor::from_values({64, 4}, xs)},
                            {y, tensor::from_values({64, 1}, ys)}};
    auto before = number(s, loss, feeds);
    for (int step = 0; step < 200; ++step)
      s.run(train, feeds);
    return number(s, loss, feeds) / before;
  };
  CHECK(after_training(false) > 0.5);
  CHECK(after_training(true) < 0.1);
}

TEST_CASE("an invalid scale is an error at the line that requests it") {
  graph_builder g;
  CHECK_THROWS_AS(loss_scale::constant(g, 0), error);
  CHECK_THROWS_AS(loss_scale::dynamic(g, {.factor = 1}), error);
  CHECK_THROWS_AS(loss_scale::dynamic(g, {.initial = 1, .minimum = 2}), error);
  auto w = g.variable(1.0f, "w");
  gradient_descent minimizer{0.1};
  try {
    minimizer.apply_gradients_if(w, optimizer::compute_gradients(square(w)));
    FAIL("the condition is a number");
  } catch (const error& e) {
    CHECK(std::string{e.what()}.find("loss_scale_test.cpp") != std::string::npos);
  }
}

TEST_CASE("a session computes in no other types than f16 and bf16") {
  CHECK_THROWS_AS(session::local({.passes = {.mixed_precision = dtype::f64}}), error);
  CHECK_THROWS_AS(session::local({.passes = {.mixed_precision = dtype::i32}}), error);
}

} // namespace troupe::test::loss_scale_test
