// Gradients through branches, loops and functions: exact values, differences, and random programs.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <random>

namespace troupe::test::control_flow_gradient_test {
namespace {

using list = std::vector<edge>;

double number(const tensor& input) { return *input.data<double>(); }

struct fixture {
  graph_builder g;
  edge x = g.placeholder(dtype::f64, {}, "x");
  edge n = g.placeholder(dtype::i32, {}, "n");
  session s = session::local();

  double value_of(edge output, double x_value, int iterations = 0) {
    return number(s.fetch(output, {{x, x_value}, {n, iterations}}));
  }
  // x to the power of n.
  edge power(edge base) {
    return while_loop(
        {g.constant(0), g.constant(1.0)}, [&](auto& v) { return less(v[0], n); },
        [&](auto& v) {
          return list{v[0] + 1, v[1] * base};
        })[1];
  }
};

} // namespace

TEST_CASE_METHOD(fixture, "a conditional's gradient is the gradient of the branch that ran") {
  auto w = g.placeholder(dtype::f64, {}, "w");
  auto y = cond(
      greater(x, 0.0), [&] { return x * x * w; }, [&] { return sin(x); });
  auto dy = g.gradients(y, {x, w});
  auto value_at = [&](edge output, double value) {
    return number(s.fetch(output, {{x, value}, {w, 5.0}}));
  };
  CHECK(value_at(dy[0], 3) == 30);
  CHECK(value_at(dy[1], 3) == 9);
  CHECK(value_at(dy[0], -2) == Approx(std::cos(-2)));
  CHECK(value_at(dy[1], -2) == 0);
  CHECK(value_at(y, 3) == 45);
}

TEST_CASE_METHOD(fixture, "a case's gradient is the gradient of the called function") {
  auto y = switch_case(n, {[&] {
                             return list{x * x, x};
                           },
                           [&] {
                             return list{exp(x), x * 3.0};
                           },
                           [&] {
                             return list{g.constant(2.0), -x};
                           }});
  auto first = g.gradients(y[0], {x})[0], summed_gradient = g.gradients(y, {x})[0];
  CHECK(value_of(first, 3, 0) == 6);
  CHECK(value_of(first, 1, 1) == Approx(std::exp(1)));
  CHECK(value_of(first, 3, 2) == 0);
  CHECK(value_of(summed_gradient, 3, 0) == 7);
  CHECK(value_of(summed_gradient, 3, 2) == -1);
}

TEST_CASE_METHOD(fixture, "a loop's gradient goes back through its iterations") {
  auto y = power(x);
  auto dx = g.gradients(y, {x})[0];
  for (int k : {0, 1, 2, 5, 60})
    CHECK(value_of(dx, 1.1, k) == Approx(k * std::pow(1.1, k - 1)));
  CHECK(value_of(y, 2, 10) == 1024);
}

TEST_CASE_METHOD(fixture, "a loop's gradient has a gradient itself") {
  auto dx = g.gradients(power(x), {x})[0];
  auto ddx = g.gradients(dx, {x})[0];
  auto dddx = g.gradients(ddx, {x})[0];
  for (int k : {1, 2, 3, 5, 9}) {
    CHECK(value_of(ddx, 1.5, k) == Approx(k * (k - 1) * std::pow(1.5, k - 2)));
    CHECK(value_of(dddx, 1.5, k) == Approx(k * (k - 1) * (k - 2) * std::pow(1.5, k - 3)));
  }
}

TEST_CASE_METHOD(fixture,
                 "a loop that is differentiated twice keeps the tensors of both gradients") {
  auto w = g.placeholder(dtype::f64, {}, "w");
  auto results = while_loop(
      {g.constant(0), x, w}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return list{v[0] + 1, v[1] * v[2], v[2] + sin(v[1])};
      });
  auto dx = g.gradients(results[1], {x})[0], dw = g.gradients(results[2], {w})[0];
  auto value_at = [&](edge output, double a, double b) {
    return number(s.fetch(output, {{x, a}, {w, b}, {n, 4}}));
  };
  auto small = 1e-6;
  CHECK(value_at(dx, 0.7, 1.2) ==
        Approx((value_at(results[1], 0.7 + small, 1.2) - value_at(results[1], 0.7 - small, 1.2)) /
               (2 * small)));
  CHECK(value_at(dw, 0.7, 1.2) ==
        Approx((value_at(results[2], 0.7, 1.2 + small) - value_at(results[2], 0.7, 1.2 - small)) /
               (2 * small)));
}

TEST_CASE_METHOD(fixture, "a recurrent net trains alike as a loop and unrolled") {
  auto w =
      g.variable(tensor::from_values<double>({3, 3}, {.1, -.2, .3, .4, .5, -.6, .7, -.8, .9}), "w");
  auto b = g.variable(tensor::from_values<double>(shape{3}, {.1, .2, .3}), "b");
  auto input = g.placeholder(dtype::f64, {5, 2, 3}, "input");
  auto start = g.constant(tensor::from_values<double>({2, 3}, {1, 2, 3, 4, 5, 6}));
  auto cell = [&](edge h, edge t) { return tanh(matmul(h, w) + gather(input, t) + b); };
  auto looped = while_loop(
      {g.constant(0), start}, [&](auto& v) { return less(v[0], 5); },
      [&](auto& v) {
        return list{v[0] + 1, cell(v[1], v[0])};
      })[1];
  auto unrolled = start;
  for (int t = 0; t < 5; ++t)
    unrolled = cell(unrolled, g.constant(t));
  auto loop_gradients = g.gradients(sum(looped * looped), {w, b, input});
  auto unrolled_gradients = g.gradients(sum(unrolled * unrolled), {w, b, input});
  s.run(g.initializer());
  std::vector<double> numbers(30);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = std::sin(static_cast<double>(i));
  auto fetches = loop_gradients;
  fetches.insert(fetches.end(), unrolled_gradients.begin(), unrolled_gradients.end());
  auto results = s.run({{input, tensor::from_values<double>({5, 2, 3}, numbers)}}, fetches);
  for (size_t i = 0; i < 3; ++i) {
    REQUIRE(results[i].dims() == results[i + 3].dims());
    for (size_t k = 0; k < results[i].values<double>().size(); ++k)
      CHECK(results[i].values<double>()[k] ==
            Approx(results[i + 3].values<double>()[k]).margin(1e-12));
  }
}

TEST_CASE_METHOD(fixture, "nested loops and branches have gradients") {
  // The product over i < n of (x^i where i is odd, 2x else).
  auto y = while_loop(
      {g.constant(0), g.constant(1.0)}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto factor = cond(
            equal(floor_mod(v[0], 2), 1),
            [&] {
              return while_loop(
                  {g.constant(0), g.constant(1.0)}, [&](auto& w) { return less(w[0], v[0]); },
                  [&](auto& w) {
                    return list{w[0] + 1, w[1] * x};
                  })[1];
            },
            [&] { return x * 2.0; });
        return list{v[0] + 1, v[1] * factor};
      })[1];
  auto dx = g.gradients(y, {x})[0];
  // 2x * x * 2x * x^3 * 2x = 8 x^7
  CHECK(value_of(y, 1.3, 5) == Approx(8 * std::pow(1.3, 7)));
  CHECK(value_of(dx, 1.3, 5) == Approx(56 * std::pow(1.3, 6)));
  CHECK(value_of(g.gradients(dx, {x})[0], 1.3, 5) == Approx(336 * std::pow(1.3, 5)));
}

TEST_CASE_METHOD(fixture, "loop variables that change their shape have gradients") {
  auto results = while_loop(
      {g.constant(0), reshape(x, {1})}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return list{v[0] + 1, concatenate(list{v[1], v[1] * x}, 0)};
      });
  // (1 + x)^n x
  auto y = sum(results[1]);
  auto dx = g.gradients(y, {x})[0];
  CHECK(value_of(y, 2, 4) == 162);
  CHECK(value_of(dx, 2, 4) == Approx(81 + 2 * 4 * 27));
}

TEST_CASE_METHOD(fixture, "calls have gradients, and calls of one function share them") {
  auto square = define(g, "square", {dtype::f64, dtype::f64}, [](auto& v) {
    return list{v[0] * v[0] * v[1], v[1] * 2.0};
  });
  auto first_call = call(g, square, {x, g.constant(3.0)});
  auto second_call = call(g, square, {first_call[0], x});
  auto dx = g.gradients(second_call[0], {x})[0]; // (3 x^2)^2 x = 9 x^5
  CHECK(value_of(second_call[0], 2) == 288);
  CHECK(value_of(dx, 2) == Approx(45 * 16));
  CHECK(value_of(g.gradients(dx, {x})[0], 2) == Approx(180 * 8));
}

TEST_CASE_METHOD(fixture, "recursive functions have gradients") {
  auto power =
      define_recursive(g, "power", {argument{dtype::f64, shape{}}, argument{dtype::i32, shape{}}},
                       {dtype::f64}, [&](auto& self, auto& v) {
                         return list{cond(
                             greater(v[1], 0),
                             [&] {
                               return v[0] * call(g, self, {v[0], v[1] - 1})[0];
                             },
                             [&] { return g.constant(1.0); })};
                       });
  auto y = call(g, power, {x, n})[0];
  auto dx = g.gradients(y, {x})[0];
  CHECK(value_of(y, 2, 5) == 32);
  CHECK(value_of(dx, 2, 5) == 80);
  CHECK(value_of(dx, 2, 0) == 0);
  CHECK(value_of(dx, 1.01, 80) == Approx(80 * std::pow(1.01, 79)));
}

TEST_CASE_METHOD(fixture, "a tree of calls has a gradient") {
  // t(x, n) = sin(x) t(x, n-1) + t(x, n-2)
  auto tree =
      define_recursive(g, "tree", {argument{dtype::f64, shape{}}, argument{dtype::i32, shape{}}},
                       {dtype::f64}, [&](auto& self, auto& v) {
                         return list{cond(
                             greater(v[1], 1),
                             [&] {
                               return sin(v[0]) * call(g, self, {v[0], v[1] - 1})[0] +
                                      call(g, self, {v[0], v[1] - 2})[0];
                             },
                             [&] { return v[0] * v[0]; })};
                       });
  auto y = call(g, tree, {x, n})[0];
  auto dx = g.gradients(y, {x})[0];
  auto small = 1e-6;
  CHECK(value_of(dx, 0.8, 7) ==
        Approx((value_of(y, 0.8 + small, 7) - value_of(y, 0.8 - small, 7)) / (2 * small)));
}

TEST_CASE_METHOD(fixture, "random numbers in a loop are drawn once for the loop and its gradient") {
  auto y = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return list{v[0] + 1, v[1] * random_uniform(g, tensor::vector<int32_t>({}), dtype::f64)};
      })[1];
  auto dx = g.gradients(y, {x})[0];
  auto results = s.run({{x, 2.0}, {n, 6}}, {y, dx});
  CHECK(number(results[0]) == Approx(2 * number(results[1])));
  CHECK(number(results[0]) > 0);
}

TEST_CASE_METHOD(fixture, "gradients may be taken within a loop") {
  // Newton's method for x^3 = 7.
  auto root = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto f = v[1] * v[1] * v[1] - 7.0;
        return list{v[0] + 1, v[1] - f / g.gradients(f, {v[1]})[0]};
      })[1];
  CHECK(value_of(root, 2, 8) == Approx(std::cbrt(7.0)));
}

TEST_CASE_METHOD(fixture,
                 "unchanged and unused loop variables have the gradient of their final values") {
  auto results = while_loop(
      {g.constant(0), x, x * 2.0}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return list{v[0] + 1, v[1], stop_gradient(v[2])};
      });
  CHECK(value_of(g.gradients(results[1], {x})[0], 3, 4) == 1);
  CHECK(value_of(g.gradients(results[2], {x})[0], 3, 4) == 0);
  CHECK(value_of(g.gradients(results[2], {x})[0], 3, 0) == 2);
}

TEST_CASE_METHOD(fixture, "a branch may return a variable where the other returns a value") {
  auto v = g.variable(4.0, "v");
  auto y = cond(
      greater(x, 0.0), [&]() -> edge { return v; }, [&] { return x * 2.0; });
  auto z = cond(
      greater(x, 0.0), [&]() -> edge { return v; }, [&] { return v * x; });
  auto y_plus_one = y + 1.0;
  auto dy = g.gradients(y_plus_one, {v, x}), dz = g.gradients(z, {v});
  s.run(g.initializer());
  CHECK(value_of(y_plus_one, 3) == 5);
  CHECK(value_of(y_plus_one, -3) == -5);
  CHECK(value_of(dy[0], 3) == 1);
  CHECK(value_of(dy[0], -3) == 0);
  CHECK(value_of(dy[1], 3) == 0);
  CHECK(value_of(dy[1], -3) == 2);
  CHECK(value_of(dz[0], 3) == 1);
  CHECK(value_of(dz[0], -3) == -3);
}

TEST_CASE_METHOD(fixture,
                 "a loop that changes a variable is differentiated with the values it read") {
  auto v = g.variable(1.0, "v");
  auto y = while_loop(
      {g.constant(0), x}, [&](auto& a) { return less(a[0], 3); },
      [&](auto& a) {
        auto next = a[1] * v;
        assign_add(v, 10.0);
        return list{a[0] + 1, next};
      })[1];
  auto dx = g.gradients(y, {x})[0];
  auto f = define(g, "f", {argument{dtype::f64, shape{}}},
                  [&](auto& a) { return list{assign_add(v, 1.0) * a[0]}; });
  auto df = g.gradients(call(g, f, {x})[0], {x})[0];
  s.run(g.initializer());
  CHECK(value_of(dx, 1) == 1 * 11 * 21);
  s.run(g.initializer());
  CHECK(value_of(df, 7) == 2);
}

TEST_CASE_METHOD(fixture,
                 "variables used in nested loops have gradients, whether changed outside or not") {
  auto w = g.variable(2.0, "w");
  auto nest = [&](bool changes) {
    return while_loop(
        {g.constant(0), x}, [&](auto& a) { return less(a[0], 2); },
        [&](auto& a) {
          auto inner = while_loop(
              {g.constant(0), a[1]}, [&](auto& b) { return less(b[0], 2); },
              [&](auto& b) {
                return list{b[0] + 1, b[1] * w};
              })[1];
          auto next = cond(
              greater(inner, 0.0), [&] { return inner * w; }, [&] { return inner; });
          if (changes) {
            auto order = g.after({next.node});
            assign_add(w, 1.0);
          }
          return list{a[0] + 1, next};
        })[1];
  };
  auto constant = nest(false), changing = nest(true);
  auto first = g.gradients(constant, {x, w}), second = g.gradients(changing, {x});
  s.run(g.initializer());
  CHECK(value_of(first[0], 3) == 64);         // w^6
  CHECK(value_of(first[1], 3) == 3 * 6 * 32); // 6 x w^5
  CHECK(value_of(second[0], 3) == 8 * 27);    // 2^3 3^3
}

TEST_CASE_METHOD(fixture,
                 "gradients of a loop may be taken after it, and within a recomputed scope") {
  auto y = power(x);
  edge dx, z;
  {
    auto order = g.after({y.node});
    dx = g.gradients(y, {x})[0];
  }
  CHECK(value_of(dx, 2, 3) == 12);
  {
    auto recompute_scope = g.recompute();
    z = power(x);
  }
  CHECK(value_of(g.gradients(z * z, {x})[0], 2, 3) == 192);
}

TEST_CASE_METHOD(fixture, "gradients of lists count each use of an item, and fit the list") {
  auto no_dims = g.constant(tensor::vector(std::vector<int32_t>{}));
  auto any_dim = g.constant(int32_t{-1});
  auto pair_list = tensor_list_from_tensor(pack({x, x * 3.0}), no_dims);
  auto twice_sum = sum(tensor_list_gather(pair_list, g.constant(tensor::vector<int32_t>({0, 0})),
                                          no_dims, dtype::f64),
                       {0});
  CHECK(value_of(g.gradients(twice_sum, {x})[0], 1) == 2);
  auto element_list = tensor_list_push_back(empty_tensor_list(no_dims, any_dim, dtype::f64), x);
  auto two = tensor_list_set_item(element_list, 1, g.constant(7.0),
                                  {.resize_if_index_out_of_bounds = true});
  CHECK(value_of(g.gradients(tensor_list_get_item(two, 0, no_dims, dtype::f64), {x})[0], 3) == 1);
}

TEST_CASE_METHOD(fixture, "the nesting of lists is limited, however they are made") {
  auto any_dim = g.constant(int32_t{-1});
  auto empty_list = empty_tensor_list(any_dim, any_dim, dtype::variant);
  auto deep = while_loop(
      {g.constant(0), tensor_list_push_back(empty_list, empty_list)},
      [&](auto& a) { return less(a[0], 3000); },
      [&](auto& a) {
        auto reserved = tensor_list_reserve(any_dim, g.constant(1), dtype::variant);
        return list{a[0] + 1, tensor_list_push_back(empty_list, add_n({reserved, a[1]}))};
      })[1];
  CHECK_THAT(error_text_of([&] { s.fetch(tensor_list_length(deep)); }),
             Catch::Matchers::Contains("lists are nested more than"));
  auto wide = while_loop(
      {g.constant(0), empty_list}, [&](auto& a) { return less(a[0], 50); },
      [&](auto& a) {
        return list{a[0] + 1, tensor_list_push_back(tensor_list_push_back(empty_list, a[1]), a[1])};
      })[1];
  CHECK_THAT(error_text_of([&] { s.fetch(tensor_list_length(zeros_like(wide))); }),
             Catch::Matchers::Contains("counting repeated items each time"));
}

TEST_CASE_METHOD(fixture, "an op without a gradient in a loop is named, with the function") {
  auto y = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        return list{v[0] + 1, prevent_gradient(v[1], {.message = "not this one"})};
      })[1];
  auto error_text = error_text_of([&] { g.gradients(y, {x}); });
  CHECK_THAT(error_text, Catch::Matchers::Contains("not this one") &&
                             Catch::Matchers::Contains("function 'body'"));
}

namespace {

// Draws smooth functions of two variables in nested branches, loops and calls.
class drawer {
public:
  drawer(graph_builder& g, edge choice, uint64_t seed) : g_(g), choice_(choice), random_(seed) {}

  edge draw(const list& from, int depth) {
    list values = from;
    auto branch_count = 2 + below(3);
    for (int i = 0; i < branch_count; ++i)
      values.push_back(statement(values, depth));
    return values.back() + pick(values);
  }

private:
  int below(int n) { return std::uniform_int_distribution<int>{0, n - 1}(random_); }
  edge pick(const list& from) {
    return from[static_cast<size_t>(below(static_cast<int>(from.size())))];
  }

  edge statement(const list& from, int depth) {
    auto a = pick(from), b = pick(from);
    switch (below(depth > 0 ? 8 : 4)) {
      case 0: return sin(a) * b;
      case 1: return a * 0.5 + tanh(b);
      case 2: return sigmoid(a) - b * 0.3;
      case 3: return a * b * 0.25;
      case 4:
        return cond(
            equal(floor_mod(choice_, 2), below(2)), [&] { return draw(from, depth - 1); },
            [&] { return draw(from, depth - 1); });
      case 5:
        return switch_case(floor_mod(choice_ + below(3), 3),
                           {[&] { return list{draw(from, depth - 1)}; },
                            [&] { return list{a * 2.0}; },
                            [&] { return list{draw({b}, depth - 1)}; }})[0];
      case 6: {
        auto iterations = below(4);
        auto extra_count = below(2);
        return while_loop(
            {g_.constant(0), a, b},
            [&](auto& v) { return less(v[0], floor_mod(choice_, 3) * extra_count + iterations); },
            [&](auto& v) {
              auto inner = from;
              inner.push_back(v[1]);
              inner.push_back(v[2]);
              auto next = draw(inner, depth - 1);
              return list{v[0] + 1, v[2], tanh(next)};
            })[static_cast<size_t>(1 + below(2))];
      }
      default: {
        auto f =
            define(g_, concat("f", functions_++),
                   {argument{dtype::f64, shape{}}, argument{dtype::f64, shape{}}}, [&](auto& v) {
                     return list{draw({v[0], v[1]}, depth - 1)};
                   });
        return call(g_, f, {a, call(g_, f, {b, a})[0]})[0];
      }
    }
  }

  graph_builder& g_;
  edge choice_;
  std::mt19937_64 random_;
  int functions_ = 0;
};

// Returns the number of compared gradients: where a function changes too fast, differences are no
// reference.
int check_program(uint64_t seed) {
  INFO("seed " << seed);
  fixture tested;
  auto other_input = tested.g.placeholder(dtype::f64, {}, "other");
  drawer draws{tested.g, tested.n, seed};
  auto y = draws.draw({tested.x, other_input}, 3);
  int compared = 0;
  auto dy = tested.g.gradients(y, {tested.x, other_input});
  for (int choice : {0, 1, 5}) {
    auto value = [&](edge output, double a, double b) {
      return number(tested.s.fetch(output, {{tested.x, a}, {other_input, b}, {tested.n, choice}}));
    };
    for (size_t variable_index : {0, 1}) {
      auto difference = [&](double small) {
        auto shifted = [&](double offset) {
          return variable_index == 0 ? value(y, 0.6 + offset, -0.4) : value(y, 0.6, -0.4 + offset);
        };
        return (shifted(small) - shifted(-small)) / (2 * small);
      };
      auto expected = difference(1e-5);
      if (expected != Approx(difference(1e-6)).epsilon(1e-5).margin(1e-6))
        continue;
      ++compared;
      auto computed = dy[variable_index] ? value(dy[variable_index], 0.6, -0.4) : 0.0;
      CHECK(computed == Approx(expected).epsilon(1e-4).margin(1e-6));
    }
  }
  return compared;
}

} // namespace

TEST_CASE("gradients of random nested programs agree with differences") {
  int compared = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed)
    compared += check_program(seed);
  CHECK(compared > 350);
}

TEST_CASE("gradients of many random nested programs agree with differences", "[slow]") {
  int compared = 0;
  for (uint64_t seed = 1000; seed < 3000; ++seed)
    compared += check_program(seed);
  CHECK(compared > 11'800);
}

} // namespace troupe::test::control_flow_gradient_test
