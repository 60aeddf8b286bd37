// map, fold, scan and recurrent networks over sequences.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

#include <numeric>

namespace troupe::test::loops_test {
namespace {

using list = std::vector<edge>;
using Catch::Matchers::Contains;

template <class T>
std::vector<T> values(const tensor& input) {
  return {input.values<T>().begin(), input.values<T>().end()};
}

} // namespace

TEST_CASE("scan carries values from slice to slice, and collects outputs") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  for (bool reverse : {false, true}) {
    auto sums = scan({g.constant(0.0f)}, {x},
                     [](auto& carry, auto& slices) -> scan_iteration {
                       auto sum = carry[0] + slices[0];
                       return {{sum}, {sum, sum * 2.0f}};
                     },
                     {.reverse = reverse});
    CHECK(sums.outputs[0].dims() == partial_shape{-1});
    auto s = session::local();
    auto results =
        s.run({{x, {1.0f, 2.0f, 4.0f}}}, {sums.outputs[0], sums.outputs[1], sums.carry[0]});
    auto expected = reverse ? std::vector{7.0f, 6.0f, 4.0f} : std::vector{1.0f, 3.0f, 7.0f};
    CHECK(values<float>(results[0]) == expected);
    CHECK(*results[2].data<float>() == 7);
    results = s.run({{x, tensor::vector(std::vector<float>{})}}, {sums.outputs[0], sums.carry[0]});
    CHECK(results[0].dims() == shape{0});
    CHECK(*results[1].data<float>() == 0);
  }
}

TEST_CASE("map and fold go over several tensors at once") {
  graph_builder g;
  auto a = g.placeholder(dtype::f32, {-1, 2}, "a"), b = g.placeholder(dtype::f32, {-1}, "b");
  auto mapped = map({a, b}, [](auto& v) { return list{v[0] * v[1], sum(v[0])}; });
  auto folded = fold({g.constant(tensor::from_values<float>(shape{2}, {0, 0}))}, {a, b},
                     [](auto& c, auto& v) { return list{c[0] + v[0] * v[1]}; });
  CHECK(mapped[0].dims() == partial_shape{-1, 2});
  auto s = session::local();
  std::vector<std::pair<edge, tensor>> fed;
  auto a_value = tensor::from_values<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  auto results =
      s.run({{a, a_value}, {b, {1.0f, 10.0f, 100.0f}}}, {mapped[0], mapped[1], folded[0]});
  CHECK(values<float>(results[0]) == std::vector{1.f, 2.f, 30.f, 40.f, 500.f, 600.f});
  CHECK(values<float>(results[1]) == std::vector{3.f, 7.f, 11.f});
  CHECK(values<float>(results[2]) == std::vector{531.f, 642.f});
  CHECK_THROWS_WITH(s.run({{a, a_value}, {b, {1.0f}}}, {mapped[0]}), Contains("Assert"));
}

TEST_CASE("gradients of scans, maps and folds equal those of the unrolled formulas") {
  graph_builder g;
  auto x = g.placeholder(dtype::f64, {-1}, "x");
  auto w = g.placeholder(dtype::f64, {}, "w");
  // Horner's rule: x0 w^(n-1) + ... + x(n-1)
  auto y = fold({g.constant(0.0)}, {x}, [&](auto& c, auto& v) { return list{c[0] * w + v[0]}; })[0];
  auto squares = map({x}, [](auto& v) { return list{v[0] * v[0]}; })[0];
  auto parts = scan({g.constant(1.0)}, {x}, [](auto& c, auto& v) -> scan_iteration {
    auto product = c[0] * v[0];
    return {{product}, {product}};
  });
  auto dy = g.gradients(y, {x, w});
  auto squares_gradient = g.gradients(squares, {x})[0];
  auto parts_gradient = g.gradients(parts.outputs[0], {x})[0];
  auto s = session::local();
  auto results = s.run({{x, tensor::vector<double>({2, 3, 5})}, {w, 10.0}},
                       {y, dy[0], dy[1], squares_gradient, parts_gradient});
  CHECK(*results[0].data<double>() == 235);
  CHECK(values<double>(results[1]) == std::vector{100., 10., 1.});
  CHECK(*results[2].data<double>() == 2 * 2 * 10 + 3);
  CHECK(values<double>(results[3]) == std::vector{4., 6., 10.});
  // x0 + x0 x1 + x0 x1 x2
  CHECK(values<double>(results[4]) == std::vector{1. + 3 + 15, 2. + 10, 6.});
}

TEST_CASE("a recurrent net stops at each sequence's length, forward and backward") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2, 1}, "x");
  auto lengths = g.placeholder(dtype::i64, {2}, "lengths");
  auto start = g.constant(tensor::from_values<float>({2, 1}, {0, 0}));
  auto cell = [](edge input, const list& state) -> scan_iteration {
    auto next = state[0] * 10.0f + input;
    return {{next}, {next}};
  };
  auto rnn_results = bidirectional_rnn(x, {start}, cell, {start}, cell, {.lengths = lengths});
  auto dx = g.gradients({rnn_results.forward.carry[0], rnn_results.backward.outputs[0]}, {x})[0];
  auto s = session::local();
  // Sequences 1 2 3 and 4 5, and padding.
  auto results = s.run({{x, tensor::from_values<float>({3, 2, 1}, {1, 4, 2, 5, 3, 9})},
                        {lengths, tensor::vector<int64_t>({3, 2})}},
                       {rnn_results.forward.outputs[0], rnn_results.forward.carry[0],
                        rnn_results.backward.outputs[0], rnn_results.backward.carry[0], dx});
  CHECK(values<float>(results[0]) == std::vector{1.f, 4.f, 12.f, 45.f, 123.f, 0.f});
  CHECK(values<float>(results[1]) == std::vector{123.f, 45.f});
  CHECK(values<float>(results[2]) == std::vector{321.f, 54.f, 32.f, 5.f, 3.f, 0.f});
  CHECK(values<float>(results[3]) == std::vector{321.f, 54.f});
  // Forward 100 10 1 and 10 1; backward 1, 1 + 10, 1 + 10 + 100.
  CHECK(values<float>(results[4]) == std::vector{101.f, 11.f, 21.f, 12.f, 112.f, 0.f});
}

TEST_CASE(
    "loops over slices refuse inputs without slices, and iterations that lose a carried value") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {3}, "x");
  auto keep_carry = [](auto& c, auto&) -> scan_iteration { return {c, {}}; };
  CHECK_THAT(error_text_of([&] { scan({}, {}, keep_carry); }), Contains("at least one tensor"));
  CHECK_THAT(error_text_of([&] { scan({}, {g.constant(1.0f)}, keep_carry); }),
             Contains("is a scalar"));
  CHECK_THAT(error_text_of([&] {
               scan({}, {x, g.constant(tensor::vector<int>({1, 2}))}, keep_carry);
             }),
             Contains("2 slices"));
  CHECK_THAT(
      error_text_of([&] { scan({x}, {x}, [](auto&, auto&) -> scan_iteration { return {}; }); }),
      Contains("returns 0 carried"));
}

} // namespace troupe::test::loops_test
