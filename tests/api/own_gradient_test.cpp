// Gradients that functions have of their own.
#include "tests/support/catch.hpp"
#include "tests/support/failure_of.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::own_gradient_test {
namespace {

using list = std::vector<edge>;

struct fixture {
  graph_builder g;
  edge x = g.placeholder(dtype::f64, {}, "x");
  edge n = g.placeholder(dtype::i32, {}, "n");
  session s = session::local();

  double of(edge what, double at, int turns = 0) {
    return *s.fetch(what, {{x, at}, {n, turns}}).data<double>();
  }
};

} // namespace

TEST_CASE_METHOD(fixture, "a function may have a gradient of its own") {
  // log(1 + e^x), whose usual gradient is not finite for large x.
  auto softplus_like = define(
      g, "log1pexp", {argument{dtype::f64}, argument{dtype::i32}},
      [&](auto& v) {
        return list{log(exp(v[0]) + 1.0), v[1] + 1, v[0] * 7.0};
      },
      [&](auto& v, auto& dy) {
        CHECK(dy.size() == 2); // not of the whole number
        return list{dy[0] * sigmoid(v[0]) + dy[1] * 1000.0, {}};
      });
  auto y = call(g, softplus_like, {x, n});
  auto one = g.gradients(y[0], {x})[0], both = g.gradients({y[0], y[2]}, {x})[0];
  CHECK(of(one, 1000) == 1);
  CHECK(of(one, 0) == 0.5);
  CHECK(of(both, 0) == 1000.5);
  CHECK(of(g.gradients(one, {x})[0], 0) == 0.25); // that of sigmoid

  SECTION("in loops, in branches and within other functions") {
    auto around = define(g, "around", {argument{dtype::f64}}, [&](auto& v) {
      auto found = cond(
          greater(v[0], -1e9),
          [&] {
            return call(g, softplus_like, {v[0], n})[2];
          },
          [&] { return v[0]; });
      return list{found};
    });
    auto looped = while_loop(
        {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
        [&](auto& v) {
          return list{v[0] + 1, call(g, around, {v[1]})[0]};
        })[1];
    CHECK(of(looped, 1, 3) == 343);
    CHECK(of(g.gradients(looped, {x})[0], 1, 3) == 1e9);
  }
  SECTION("what does not fit is refused") {
    auto fails = [&](std::vector<argument> takes, auto build, auto gradient) {
      return failure_of([&] { define(g, "bad", takes, build, gradient); });
    };
    using Catch::Matchers::Contains;
    auto same = [](auto& v) { return v; };
    auto pass = [](auto&, auto& dy) { return dy; };
    auto w = g.variable(2.0, "w");
    CHECK_THAT(fails({argument{w}}, same, pass), Contains("argument 0 is a variable"));
    CHECK_THAT(fails(
                   {dtype::f64}, [&](auto& v) { return list{v[0] * x}; }, pass),
               Contains("takes 'x' from outside"));
    CHECK_THAT(fails({dtype::f64}, same, [&](auto&, auto& dy) { return list{dy[0] * x}; }),
               Contains("takes 'x' from outside"));
    CHECK_THAT(fails({dtype::f64}, same, [&](auto&, auto&) { return list{}; }),
               Contains("returns 0 edges for 1 arguments"));
    CHECK_THAT(fails({dtype::f64}, same, [&](auto& v, auto&) { return list{greater(v[0], 0.0)}; }),
               Contains("returns bool for argument 0, which is f64"));
    CHECK_THAT(fails({dtype::i32}, same, [&](auto& v, auto&) { return list{v[0]}; }),
               Contains("has none: return edge{}"));
    CHECK_THAT(fails({argument{dtype::f64, shape{3}}}, same,
                     [&](auto& v, auto&) { return list{sum(v[0])}; }),
               Contains("for argument 0 has shape [], and the argument has [3]"));
  }
}

TEST_CASE_METHOD(fixture,
                 "a gradient of a function's own has the shape of what it is called with") {
  auto f = define(
      g, "f", {dtype::f64}, [](auto& v) { return list{sum(v[0])}; },
      [](auto&, auto& dy) { return list{dy[0]}; });
  auto three = g.placeholder(dtype::f64, shape{3});
  auto y = call(g, f, {three})[0];
  CHECK_THAT(failure_of([&] { g.gradients(y, {three}); }),
             Catch::Matchers::Contains("its own gradient of argument 0 has shape []"));
}

TEST_CASE_METHOD(fixture, "a gradient of a function's own counts where the function is a branch") {
  auto own = [&](const char* name, double factor) {
    return define(
               g, name, {argument{dtype::f64, shape{}}}, [](auto& v) { return list{v[0] * 2.0}; },
               [=](auto&, auto& dy) { return list{dy[0] * factor}; })
        .value;
  };
  auto test = define(g, "test", {argument{dtype::f64, shape{}}}, [](auto& v) {
                return list{less(v[0], 100.0)};
              }).value;
  auto* chosen = value_or_throw(
      g.add({.op = "StatelessIf",
             .inputs = {greater(x, 0.0), x},
             .attrs = {{"then_branch", own("a", 5)}, {"else_branch", own("b", 7)}}}));
  auto* looped = value_or_throw(g.add(
      {.op = "StatelessWhile", .inputs = {x}, .attrs = {{"cond", test}, {"body", own("c", 3)}}}));
  auto dx = g.gradients(chosen->output(0), {x})[0];
  CHECK(of(dx, 1) == 5);
  CHECK(of(dx, -1) == 7);
  CHECK(of(looped->output(0), 30) == 120);
  CHECK(of(g.gradients(looped->output(0), {x})[0], 30) == 9);
}

TEST_CASE_METHOD(fixture, "functions with gradients of their own take constants of any size") {
  auto table = g.constant(tensor::vector(std::vector<double>(1000, 3)));
  auto f = define(
      g, "f", {dtype::f64}, [&](auto& v) { return list{sum(table * v[0])}; },
      [&](auto&, auto& dy) { return list{sum(table) * dy[0] * 2.0}; });
  auto y = call(g, f, {x})[0];
  CHECK(of(y, 2) == 6000);
  CHECK(of(g.gradients(y, {x})[0], 2) == 6000);
}

TEST_CASE_METHOD(fixture,
                 "calls of itself that are not differentiated stay calls of the function") {
  // p(a, i) = i < 1 ? a : p(a a, i - 1) + what is held back
  auto powers = [&](const char* name, auto rest) {
    return define_recursive(
        g, name, {argument{dtype::f64, shape{}}, argument{dtype::i32, shape{}}}, {dtype::f64},
        [&](const defined_function& self, const list& v) {
          return list{cond(
              less(v[1], 1), [&] { return v[0]; },
              [&] {
                auto next = v[1] - 1;
                return call(g, self, {v[0] * v[0], next})[0] + rest(self, v[0], next);
              })};
        });
  };
  SECTION("behind stop_gradient") {
    auto f = powers("f", [&](auto& self, edge a, edge next) {
      return stop_gradient(call(g, self, {a, next})[0]);
    });
    auto y = call(g, f, {x, n})[0]; // f(a, 1) = a^2 + a, f(a, 2) = a^4 + a^2 + (a^2 + a)
    CHECK(of(y, 2, 2) == 26);
    auto dx = g.gradients(y, {x})[0];
    CHECK(of(y, 2, 2) == 26);
    CHECK(of(dx, 2, 2) == 32); // of a^4: what is added is held back at each depth
  }
  SECTION("in functions with gradients of their own") {
    auto f = powers("f", [&](auto& self, edge a, edge next) {
      auto own = define(
          g, "own", {argument{dtype::f64, shape{}}, argument{dtype::i32, shape{}}},
          [&](auto& v) {
            return call(g, self, {v[0], v[1]});
          },
          [&](auto& v, auto& dy) {
            return list{dy[0] * call(g, self, {v[0], v[1]})[0], {}};
          });
      return call(g, own, {a, next})[0];
    });
    auto y = call(g, f, {x, n})[0];
    CHECK(of(y, 2, 2) == 26);
    auto dx = g.gradients(y, {x})[0];
    CHECK(of(y, 2, 2) == 26);
    // f'(a, 1) = 2a + a; f'(a, 2) = f'(a^2, 1) 2a + f(a, 1) = 6 a^3 + a^2 + a
    CHECK(of(dx, 2, 2) == 48 + 6);
  }
}

} // namespace troupe::test::own_gradient_test
