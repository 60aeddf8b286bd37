// Each optimizer follows its paper; the expected values are computed here.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace troupe::test::optimizers_test {

namespace {

// The state that an optimizer keeps for one number.
struct slot_values {
  double a = 0, b = 0, c = 0;
};
using rule = std::function<void(double& w, double g, slot_values& state, int step)>;

constexpr double start[] = {1.0, -2.0, 0.5};
constexpr double target[] = {0.25, 1.0, -3.0};

// Four steps on the loss sum((w - target)^2), whose gradient is 2 * (w - target).
void check(const char* label, optimizer& minimizer, const slot_values& initial,
           const rule& expected) {
  INFO(label);
  graph_builder g;
  auto w = g.variable(tensor::vector<double>({start[0], start[1], start[2]}), "w");
  auto loss = sum(square(w - tensor::vector<double>({target[0], target[1], target[2]})));
  auto* train = minimizer.minimize(loss);
  auto s = session::local();
  s.run(g.initializer());
  double values[3];
  slot_values state[3] = {initial, initial, initial};
  std::copy_n(start, 3, values);
  for (int step = 1; step <= 4; ++step) {
    s.run(train);
    auto result = s.fetch(w);
    for (size_t i = 0; i < 3; ++i) {
      expected(values[i], 2 * (values[i] - target[i]), state[i], step);
      INFO("step " << step << ", element " << i);
      CHECK(result.values<double>()[i] == Approx(values[i]).epsilon(1e-9));
    }
  }
}

double shrunk(double x, double amount) {
  return std::copysign(std::max(std::abs(x) - amount, 0.0), x);
}

} // namespace

TEST_CASE("gradient descent and momentum follow their formulas") {
  gradient_descent plain{0.1};
  check("plain", plain, {}, [](double& w, double g, slot_values&, int) { w -= 0.1 * g; });
  momentum heavy{0.1, 0.5};
  check("momentum", heavy, {}, [](double& w, double g, slot_values& state, int) {
    state.a = 0.5 * state.a + g;
    w -= 0.1 * state.a;
  });
  momentum nesterov{0.1, 0.5, {.nesterov = true}};
  check("nesterov", nesterov, {}, [](double& w, double g, slot_values& state, int) {
    state.a = 0.5 * state.a + g;
    w -= 0.1 * (g + 0.5 * state.a);
  });
}

TEST_CASE("optimizers that divide by gradient statistics follow their formulas") {
  adagrad sums{0.3};
  check("adagrad", sums, {.a = 0.1}, [](double& w, double g, slot_values& state, int) {
    state.a += g * g;
    w -= 0.3 * g / std::sqrt(state.a);
  });
  adadelta rates{1.0};
  check("adadelta", rates, {}, [](double& w, double g, slot_values& state, int) {
    state.a = 0.95 * state.a + 0.05 * g * g;
    auto delta = std::sqrt(state.b + 1e-6) / std::sqrt(state.a + 1e-6) * g;
    state.b = 0.95 * state.b + 0.05 * delta * delta;
    w -= delta;
  });
  rmsprop rms{0.1, {.momentum = 0.3}};
  check("rmsprop", rms, {.a = 1}, [](double& w, double g, slot_values& state, int) {
    state.a = 0.9 * state.a + 0.1 * g * g;
    state.b = 0.3 * state.b + 0.1 * g / std::sqrt(state.a + 1e-10);
    w -= state.b;
  });
  rmsprop deviations{0.1, {.centered = true}};
  check("centered rmsprop", deviations, {.a = 1}, [](double& w, double g, slot_values& state, int) {
    state.a = 0.9 * state.a + 0.1 * g * g;
    state.b = 0.9 * state.b + 0.1 * g;
    w -= 0.1 * g / std::sqrt(state.a - state.b * state.b + 1e-10);
  });
  adam moments{0.05};
  check("adam", moments, {}, [](double& w, double g, slot_values& state, int step) {
    state.a = 0.9 * state.a + 0.1 * g;
    state.b = 0.999 * state.b + 0.001 * g * g;
    auto rate = 0.05 * std::sqrt(1 - std::pow(0.999, step)) / (1 - std::pow(0.9, step));
    w -= rate * state.a / (std::sqrt(state.b) + 1e-8);
  });
}

TEST_CASE("optimizers that regularize follow their formulas") {
  proximal_adagrad proximal{0.3, {.l1 = 0.2, .l2 = 0.1}};
  check("proximal adagrad", proximal, {.a = 0.1}, [](double& w, double g, slot_values& state, int) {
    state.a += g * g;
    auto rate = 0.3 / std::sqrt(state.a);
    w = shrunk(w - rate * g, rate * 0.2) / (1 + rate * 0.1);
  });
  ftrl leader{0.3, {.l1 = 0.2, .l2 = 0.1}};
  check("ftrl", leader, {.a = 0.1}, [](double& w, double g, slot_values& state, int) {
    auto sum = state.a + g * g;
    state.b += g - (std::sqrt(sum) - std::sqrt(state.a)) / 0.3 * w;
    state.a = sum;
    w = -shrunk(state.b, 0.2) / (std::sqrt(state.a) / 0.3 + 2 * 0.1);
  });
}

TEST_CASE("slots have names, types and shapes, and lie on their variable's device") {
  graph_builder g;
  auto placement = g.on("/cpu:0");
  auto w = g.variable(tensor::from_values<double>({2, 1}, {1, 2}), "w");
  adam minimizer{0.1};
  auto* train = minimizer.minimize(sum(square(w)));
  auto m = minimizer.slot(w, "mean");
  CHECK(m.name() == "w/mean");
  CHECK(m.type() == dtype::f64);
  CHECK(m.dims() == w.dims());
  CHECK(m.ref.node->device() == w.ref.node->device());
  CHECK_THROWS_WITH(minimizer.slot(w, "momentum"), Catch::Contains("mean, mean_square"));
  auto s = session::local();
  s.run(g.initializer());
  s.run(train);
  CHECK(s.fetch(m).values<double>()[1] == Approx(0.4));
}

TEST_CASE("a rate may be an edge, and an optimizer serves two losses") {
  graph_builder g;
  auto w = g.variable(1.0f, "w");
  auto rate = g.placeholder(dtype::f32, shape{}, "rate");
  momentum minimizer{rate, 0.0};
  auto* first = minimizer.minimize(w * 3.0f);
  auto* second = minimizer.minimize(w * -1.0f);
  auto s = session::local();
  s.run(g.initializer());
  s.run(first, {{rate, 0.5f}});
  CHECK(to_scalar<float>(s.fetch(w)) == Approx(-0.5));
  s.run(second, {{rate, 2.0f}});
  CHECK(to_scalar<float>(s.fetch(w)) == Approx(1.5));
}

TEST_CASE("an optimizer used for two losses shares the slots of their variables") {
  graph_builder g;
  auto w = g.variable(1.0, "w");
  adam minimizer{0.1};
  auto* first = minimizer.minimize(square(w - 3));
  auto slots = g.variables().size();
  auto* second = minimizer.minimize(square(w + 3));
  CHECK(g.variables().size() == slots);
  // Two steps on one loss are equal, through either train node.
  auto* second_train = minimizer.minimize(square(w - 3));
  auto trained = [&](node* train_node) {
    auto s = session::local();
    s.run(g.initializer());
    s.run(first);
    s.run(train_node);
    return to_scalar<double>(s.fetch(w));
  };
  CHECK(trained(first) == trained(second_train));
  CHECK(trained(second) < trained(first));
}

TEST_CASE("an optimizer serves graphs one after the other") {
  momentum minimizer{0.1, 0.9};
  for (int round = 0; round < 3; ++round) {
    graph_builder g; // may lie at the address of the previous graph
    auto w = g.variable(1.0, "w");
    auto* train = minimizer.minimize(square(w));
    CHECK(g.variables().size() == 2);
    CHECK(&minimizer.slot(w, "momentum").ref.node->graph() == &g);
    auto s = session::local();
    s.run(g.initializer());
    s.run(train);
    CHECK(to_scalar<double>(s.fetch(w)) == Approx(0.8));
  }
}

} // namespace troupe::test::optimizers_test
