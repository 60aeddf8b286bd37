// User-defined gradients of functions.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::custom_gradient_test {
namespace {

using list = std::vector<edge>;

struct fixture {
  graph_builder g;
  edge x = g.placeholder(dtype::f64, {}, "x");
  edge n = g.placeholder(dtype::i32, {}, "n");
  session s = session::local();

  double value_of(edge output, double x_value, int iterations = 0) {
    return *s.fetch(output, {{x, x_value}, {n, iterations}}).data<double>();
  }
};

// log(1 + e^x), whose automatic gradient is not finite for large x.
defined_function define_softplus(graph_builder& g) {
  return define(
      g, "log1pexp", {argument{dtype::f64}, argument{dtype::i32}},
      [&](auto& v) {
        return list{log(exp(v[0]) + 1.0), v[1] + 1, v[0] * 7.0};
      },
      [&](auto& v, auto& dy) {
        CHECK(dy.size() == 2); // none for the integer
        return list{dy[0] * sigmoid(v[0]) + dy[1] * 1000.0, {}};
      });
}

struct softplus_fixture : fixture {
  defined_function softplus_like = define_softplus(g);
};

} // namespace

TEST_CASE_METHOD(softplus_fixture, "a function may have a user-defined gradient") {
  auto y = call(g, softplus_like, {x, n});
  auto first_gradient = g.gradients(y[0], {x})[0],
       summed_gradient = g.gradients({y[0], y[2]}, {x})[0];
  CHECK(value_of(first_gradient, 1000) == 1);
  CHECK(value_of(first_gradient, 0) == 0.5);
  CHECK(value_of(summed_gradient, 0) == 1000.5);
  CHECK(value_of(g.gradients(first_gradient, {x})[0], 0) == 0.25); // the gradient of sigmoid
}

TEST_CASE_METHOD(softplus_fixture,
                 "a user-defined gradient is used in loops, branches and other functions") {
  auto conditional_call = define(g, "around", {argument{dtype::f64}}, [&](auto& v) {
    auto results = cond(
        greater(v[0], -1e9),
        [&] {
          return call(g, softplus_like, {v[0], n})[2];
        },
        [&] { return v[0]; });
    return list{results};
  });
  auto looped = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return list{v[0] + 1, call(g, conditional_call, {v[1]})[0]};
      })[1];
  CHECK(value_of(looped, 1, 3) == 343);
  CHECK(value_of(g.gradients(looped, {x})[0], 1, 3) == 1e9);
}

TEST_CASE_METHOD(fixture, "a user-defined gradient that does not match its function is refused") {
  auto fails = [&](std::vector<argument> argument_list, auto build, auto gradient) {
    return error_text_of([&] { define(g, "bad", argument_list, build, gradient); });
  };
  using Catch::Matchers::Contains;
  auto identity_of = [](auto& v) { return v; };
  auto pass = [](auto&, auto& dy) { return dy; };
  auto w = g.variable(2.0, "w");
  CHECK_THAT(fails({argument{w}}, identity_of, pass), Contains("argument 0 is a variable"));
  CHECK_THAT(fails(
                 {dtype::f64}, [&](auto& v) { return list{v[0] * x}; }, pass),
             Contains("takes 'x' from outside"));
  CHECK_THAT(fails({dtype::f64}, identity_of, [&](auto&, auto& dy) { return list{dy[0] * x}; }),
             Contains("takes 'x' from outside"));
  CHECK_THAT(fails({dtype::f64}, identity_of, [&](auto&, auto&) { return list{}; }),
             Contains("returns 0 edges for 1 arguments"));
  CHECK_THAT(
      fails({dtype::f64}, identity_of, [&](auto& v, auto&) { return list{greater(v[0], 0.0)}; }),
      Contains("returns bool for argument 0, which is f64"));
  CHECK_THAT(fails({dtype::i32}, identity_of, [&](auto& v, auto&) { return list{v[0]}; }),
             Contains("has none: return edge{}"));
  CHECK_THAT(fails({argument{dtype::f64, shape{3}}}, identity_of,
                   [&](auto& v, auto&) { return list{sum(v[0])}; }),
             Contains("for argument 0 has shape [], and the argument has [3]"));
}

TEST_CASE_METHOD(fixture, "a user-defined gradient has the shape of the call's arguments") {
  auto f = define(
      g, "f", {dtype::f64}, [](auto& v) { return list{sum(v[0])}; },
      [](auto&, auto& dy) { return list{dy[0]}; });
  auto three = g.placeholder(dtype::f64, shape{3});
  auto y = call(g, f, {three})[0];
  CHECK_THAT(error_text_of([&] { g.gradients(y, {three}); }),
             Catch::Matchers::Contains("its own gradient of argument 0 has shape []"));
}

TEST_CASE_METHOD(fixture, "a user-defined gradient is used where the function is a branch") {
  auto with_custom_gradient = [&](const char* name, double factor) {
    return define(
               g, name, {argument{dtype::f64, shape{}}}, [](auto& v) { return list{v[0] * 2.0}; },
               [=](auto&, auto& dy) { return list{dy[0] * factor}; })
        .value;
  };
  auto test = define(g, "test", {argument{dtype::f64, shape{}}}, [](auto& v) {
                return list{less(v[0], 100.0)};
              }).value;
  auto* chosen = value_or_throw(g.add({.op = "StatelessIf",
                                       .inputs = {greater(x, 0.0), x},
                                       .attrs = {{"then_branch", with_custom_gradient("a", 5)},
                                                 {"else_branch", with_custom_gradient("b", 7)}}}));
  auto* looped =
      value_or_throw(g.add({.op = "StatelessWhile",
                            .inputs = {x},
                            .attrs = {{"cond", test}, {"body", with_custom_gradient("c", 3)}}}));
  auto dx = g.gradients(chosen->output(0), {x})[0];
  CHECK(value_of(dx, 1) == 5);
  CHECK(value_of(dx, -1) == 7);
  CHECK(value_of(looped->output(0), 30) == 120);
  CHECK(value_of(g.gradients(looped->output(0), {x})[0], 30) == 9);
}

TEST_CASE_METHOD(fixture, "functions with user-defined gradients take constants of any size") {
  auto table = g.constant(tensor::vector(std::vector<double>(1000, 3)));
  auto f = define(
      g, "f", {dtype::f64}, [&](auto& v) { return list{sum(table * v[0])}; },
      [&](auto&, auto& dy) { return list{sum(table) * dy[0] * 2.0}; });
  auto y = call(g, f, {x})[0];
  CHECK(value_of(y, 2) == 6000);
  CHECK(value_of(g.gradients(y, {x})[0], 2) == 6000);
}

TEST_CASE_METHOD(fixture,
                 "recursive calls that are not differentiated stay calls of the function") {
  // p(a, i) = i < 1 ? a : p(a a, i - 1) + a remainder without a gradient
  auto powers = [&](const char* name, auto remainder) {
    return define_recursive(
        g, name, {argument{dtype::f64, shape{}}, argument{dtype::i32, shape{}}}, {dtype::f64},
        [&](const defined_function& self, const list& v) {
          return list{cond(
              less(v[1], 1), [&] { return v[0]; },
              [&] {
                auto next = v[1] - 1;
                return call(g, self, {v[0] * v[0], next})[0] + remainder(self, v[0], next);
              })};
        });
  };
  SECTION("behind stop_gradient") {
    auto f = powers("f", [&](auto& self, edge a, edge next) {
      return stop_gradient(call(g, self, {a, next})[0]);
    });
    auto y = call(g, f, {x, n})[0]; // f(a, 1) = a^2 + a, f(a, 2) = a^4 + a^2 + (a^2 + a)
    CHECK(value_of(y, 2, 2) == 26);
    auto dx = g.gradients(y, {x})[0];
    CHECK(value_of(y, 2, 2) == 26);
    CHECK(value_of(dx, 2, 2) == 32); // of a^4: the remainder has no gradient at any depth
  }
  SECTION("in functions with user-defined gradients") {
    auto f = powers("f", [&](auto& self, edge a, edge next) {
      auto halving = define(
          g, "own", {argument{dtype::f64, shape{}}, argument{dtype::i32, shape{}}},
          [&](auto& v) {
            return call(g, self, {v[0], v[1]});
          },
          [&](auto& v, auto& dy) {
            return list{dy[0] * call(g, self, {v[0], v[1]})[0], {}};
          });
      return call(g, halving, {a, next})[0];
    });
    auto y = call(g, f, {x, n})[0];
    CHECK(value_of(y, 2, 2) == 26);
    auto dx = g.gradients(y, {x})[0];
    CHECK(value_of(y, 2, 2) == 26);
    // f'(a, 1) = 2a + a; f'(a, 2) = f'(a^2, 1) 2a + f(a, 1) = 6 a^3 + a^2 + a
    CHECK(value_of(dx, 2, 2) == 48 + 6);
  }
}

} // namespace troupe::test::custom_gradient_test
