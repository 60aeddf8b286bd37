// The parts around an optimizer: clipping, rates, averages; and L-BFGS.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <numbers>

namespace troupe::test::training_test {

namespace {

double rate_at(session& s, edge rate, edge step, int64_t n) {
  return to_scalar<float>(s.fetch(rate, {{step, tensor::scalar(n)}}));
}

} // namespace

TEST_CASE("learning rates decay by their formulas") {
  graph_builder g;
  auto n = g.placeholder(dtype::i64, shape{}, "step");
  auto smooth = exponential_decay(n, 0.5, 10, 0.1);
  auto staircase_rate = exponential_decay(n, 0.5, 10, 0.1, {.staircase = true});
  auto inverse = inverse_time_decay(n, 0.5, 10, 2);
  auto linear_rate = polynomial_decay(n, 0.5, 20, {.final_rate = 0.1});
  auto wave = cosine_decay(n, 0.5, 20, 0.2);
  auto pieces = piecewise_constant(n, {3, 7}, {1, 2, 4});
  auto warm = warm_up(n, smooth, 10);
  auto s = session::local();
  CHECK(rate_at(s, smooth, n, 5) == Approx(0.5 * std::pow(0.1, 0.5)));
  CHECK(rate_at(s, staircase_rate, n, 19) == Approx(0.05));
  CHECK(rate_at(s, inverse, n, 5) == Approx(0.25));
  CHECK(rate_at(s, linear_rate, n, 10) == Approx(0.3));
  CHECK(rate_at(s, linear_rate, n, 50) == Approx(0.1));
  CHECK(rate_at(s, wave, n, 10) == Approx(0.5 * 0.6));
  CHECK(rate_at(s, wave, n, 99) == Approx(0.1));
  CHECK(rate_at(s, pieces, n, 3) == Approx(1));
  CHECK(rate_at(s, pieces, n, 4) == Approx(2));
  CHECK(rate_at(s, pieces, n, 8) == Approx(4));
  CHECK(rate_at(s, warm, n, 5) == Approx(0.5 * rate_at(s, smooth, n, 5)));
  CHECK(rate_at(s, warm, n, 10) == Approx(0.05));
  CHECK_THROWS_AS(exponential_decay(n, 0.5, 0, 0.1), error);
  CHECK_THROWS_AS(piecewise_constant(n, {3}, {1}), error);
}

TEST_CASE("steps are counted after they have run") {
  graph_builder g;
  auto w = g.variable(0.0f, "w");
  auto counter = step_counter(g);
  auto rate = exponential_decay(counter, 1, 1, 0.5);
  auto* train = count_steps(gradient_descent{rate}.minimize(w * -1.0f), counter);
  auto s = session::local();
  s.run(g.initializer());
  for (int i = 0; i < 3; ++i)
    s.run(train);
  CHECK(to_scalar<int64_t>(s.fetch(counter)) == 3);
  CHECK(to_scalar<float>(s.fetch(w)) == Approx(1.75));
}

TEST_CASE("gradients are clipped by value, norm and global norm") {
  graph_builder g;
  auto a = g.constant({3.0f, -4.0f}), b = g.constant({0.0f, 12.0f});
  auto s = session::local();
  auto values = [&](edge source) {
    auto result = s.fetch(source);
    return std::vector<float>(result.values<float>().begin(), result.values<float>().end());
  };
  CHECK(to_scalar<float>(s.fetch(global_norm({a, b}))) == Approx(13));
  CHECK(values(clip_by_norm(a, 10)) == std::vector{3.0f, -4.0f});
  CHECK(values(clip_by_norm(a, 2.5))[1] == Approx(-2));
  auto clipped_pair = clip_by_global_norm(std::vector{a, b}, 6.5);
  CHECK(values(clipped_pair[0])[0] == Approx(1.5));
  CHECK(values(clipped_pair[1])[1] == Approx(6));
  CHECK(values(clip_by_norm(g.constant({0.0f, 0.0f}), 1)) == std::vector{0.0f, 0.0f});
  auto endless = clip_by_global_norm(std::vector{g.constant({INFINITY, 1.0f})}, 1);
  CHECK(std::isnan(values(endless[0])[1]));

  auto w = g.variable(tensor::vector<float>({1, 1}), "w");
  auto gradients = optimizer::compute_gradients(sum(w * a));
  auto* train = gradient_descent{1.0f}.apply_gradients(clip_by_value(gradients, -1, 2));
  s.run(g.initializer());
  s.run(train);
  CHECK(values(w) == std::vector{-1.0f, 2.0f});
}

TEST_CASE("averages follow their variables") {
  graph_builder g;
  auto w = g.variable(4.0f, "w");
  auto* train = gradient_descent{1.0f}.minimize(w * 1.0f);
  exponential_moving_average slow{0.75};
  auto* step = slow.track(g, train);
  CHECK(slow.average(w).name() == "w/average");
  auto* use = slow.assign_averages(g);
  auto s = session::local();
  s.run(g.initializer());
  s.run(step);
  s.run(step);
  CHECK(to_scalar<float>(s.fetch(w)) == Approx(2));
  CHECK(to_scalar<float>(s.fetch(slow.average(w))) == Approx(4 - 0.25 - 0.25 * 1.75));
  s.run(use);
  CHECK(to_scalar<float>(s.fetch(w)) == to_scalar<float>(s.fetch(slow.average(w))));
  CHECK_THROWS_AS(slow.average(g.constant(1.0f)), error);
}

TEST_CASE("averages adapt quickly at first when they know the step") {
  graph_builder g;
  auto w = g.variable(0.0f, "w");
  auto counter = step_counter(g);
  auto* train = gradient_descent{1.0f}.minimize(w * -1.0f);
  exponential_moving_average slow{0.999, counter};
  auto* step = count_steps(slow.track(g, train), counter);
  auto s = session::local();
  s.run(g.initializer());
  s.run(step);
  CHECK(to_scalar<float>(s.fetch(slow.average(w))) == Approx(0.9)); // decay 1 / 10
}

TEST_CASE("by default averages follow the floating variables that have an initial value") {
  graph_builder g;
  auto w = g.variable(1.0f, "w");
  auto bare = g.variable(dtype::f32, {}, "bare");
  auto counter = step_counter(g);
  auto* train = count_steps(gradient_descent{1.0f}.minimize(w * 1.0f), counter);
  exponential_moving_average slow{0.5};
  slow.track(g, train);
  CHECK(slow.average(w).name() == "w/average");
  CHECK_THROWS_AS(slow.average(counter), error);
  CHECK_THROWS_AS(slow.average(bare), error);
}

TEST_CASE("L-BFGS finds the minimum of Rosenbrock's valley") {
  graph_builder g;
  auto x = g.variable(-1.2, "x");
  auto y = g.variable(tensor::from_values<double>({1, 1}, {1.0}), "y");
  auto loss = square(1.0 - x) + 100.0 * sum(square(y - square(x)));
  lbfgs minimizer{loss, {}, {.tolerance = 1e-8}};
  auto s = session::local();
  s.run(g.initializer());
  auto outcome = minimizer.minimize(s);
  CHECK(outcome.converged);
  CHECK(outcome.steps < 60);
  CHECK(outcome.loss < 1e-12);
  CHECK(to_scalar<double>(s.fetch(x)) == Approx(1));
  CHECK(to_scalar<double>(s.fetch(y)) == Approx(1));
}

TEST_CASE("L-BFGS trains on fed data, and stops where it cannot descend") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 3}, "x"), target = g.placeholder(dtype::f32, {-1, 1});
  auto w = g.variable(tensor::from_values<float>({3, 1}, {0, 0, 0}), "w");
  lbfgs minimizer{mean(square(matmul(x, w) - target))};
  auto s = session::local();
  s.run(g.initializer());
  std::vector<feed> data{
      {x, tensor::from_values<float>({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1})},
      {target, tensor::from_values<float>({4, 1}, {1, -2, 3, 2})}};
  auto outcome = minimizer.minimize(s, data);
  CHECK(outcome.loss < 1e-8);
  CHECK(s.fetch(w).values<float>()[1] == Approx(-2).epsilon(1e-3));
  auto falls = g.variable(0.0, "falls");
  lbfgs endless{falls * 1.0, {}, {.max_steps = 5}};
  s.run(g.initializer());
  CHECK_FALSE(endless.minimize(s).converged);
}

TEST_CASE("L-BFGS continues with other data from its last point") {
  graph_builder g;
  auto x = g.placeholder(dtype::f64, {3}, "x");
  auto w = g.variable(tensor::vector<double>({0, 0, 0}), "w");
  lbfgs minimizer{sum(square(w - x)), {}, {.tolerance = 1e-9}};
  auto s = session::local();
  s.run(g.initializer());
  for (double goal : {1.0, -4.0, 2.5}) {
    auto outcome = minimizer.minimize(s, {{x, tensor::vector<double>({goal, 2 * goal, -goal})}});
    CHECK(outcome.converged);
    CHECK(outcome.largest_gradient <= 1e-9);
    CHECK(s.fetch(w).values<double>()[1] == Approx(2 * goal));
  }
}

} // namespace troupe::test::training_test
