// Formulas build nodes: comparisons, logic and arithmetic on edges and variables, with literals on
// either side.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace troupe::test::formulas_test {

namespace {

std::vector<bool> truths(const tensor& input) {
  return {input.values<bool>().begin(), input.values<bool>().end()};
}

// Expressions that must not compile.
template <class X, class Y>
concept anded = requires(X x, Y y) {
  x&& y;
};
template <class X, class Y>
concept ored = requires(X x, Y y) {
  x || y;
};
template <class X, class Y>
concept added = requires(X x, Y y) {
  x + y;
};
template <class X>
concept tested = requires(X x) {
  x ? 1 : 2;
};
template <class X>
concept sorted = requires(std::vector<X> v) {
  std::ranges::sort(v);
};

} // namespace

TEST_CASE("comparisons of edges and variables are nodes, with literals on either side") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {3}, "x");
  auto w = g.variable(tensor::from_values<float>({3}, {1, 2, 3}), "w");
  const std::vector<edge> comparisons{x == w, x != w, x<w, x <= w, x> w, x >= w,   w == x,
                                      x > 2,  2 < w,  2.5 >= x,          w != 3.0, w == w,
                                      x == 2, 1 == w, !(x > 2)};
  for (const auto& comparison : comparisons)
    CHECK(comparison.type() == dtype::boolean);
  auto s = session::local();
  s.run(g.initializer());
  auto results = s.run({{x, tensor::from_values<float>({3}, {3, 2, 1})}}, comparisons);
  const std::vector<std::vector<bool>> expected{
      {false, true, false}, {true, false, true},  {false, false, true}, {false, true, true},
      {true, false, false}, {true, true, false},  {false, true, false}, {true, false, false},
      {false, false, true}, {false, true, true},  {true, true, false},  {true, true, true},
      {false, true, false}, {true, false, false}, {false, true, true}};
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(truths(results[i]) == expected[i]);
  }
}

TEST_CASE("two equal edges choose what equal numbers choose") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x"), y = g.placeholder(dtype::f32, {}, "y");
  auto chosen = select(x == y, x, -x);
  auto accuracy = mean(cast(x == y, dtype::f32));
  auto s = session::local();
  CHECK(to_scalar<float>(s.fetch(chosen, {{x, 1}, {y, 1}})) == 1);
  CHECK(to_scalar<float>(s.fetch(chosen, {{x, 1}, {y, 2}})) == -1);
  CHECK(to_scalar<float>(s.fetch(accuracy, {{x, 1}, {y, 1}})) == 1);
}

TEST_CASE("logic between edges makes nodes, and so does the remainder") {
  graph_builder g;
  auto x = g.placeholder(dtype::i32, {4}, "x");
  auto v = g.variable(tensor::from_values<bool>({4}, {true, false, true, false}), "v");
  const std::vector<edge> formulas{x > 1 && x < 4, x < 2 || x > 3, !(x > 1),   !v,
                                   v && x > 2,     v || v,         x > 2 && v, not v and (x > 0)};
  auto remainder = x % 3, literal_remainder = 7 % x;
  auto s = session::local();
  s.run(g.initializer());
  auto fed = tensor::from_values<int32_t>({4}, {1, 2, 3, -4});
  auto results = s.run({{x, fed}}, formulas);
  const std::vector<std::vector<bool>> expected{
      {false, true, true, false},  {true, false, false, true},  {true, false, false, true},
      {false, true, false, true},  {false, false, true, false}, {true, false, true, false},
      {false, false, true, false}, {false, true, false, false}};
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(truths(results[i]) == expected[i]);
  }
  CHECK(
      identical(s.fetch(remainder, {{x, fed}}), tensor::from_values<int32_t>({4}, {1, 2, 0, -1})));
  CHECK(identical(s.fetch(literal_remainder, {{x, fed}}),
                  tensor::from_values<int32_t>({4}, {0, 1, 1, 3})));
}

TEST_CASE("a comparison of edges is no bool of C++, and a bool of C++ is no edge") {
  static_assert(!std::is_convertible_v<truth_edge, bool>);
  static_assert(!std::is_constructible_v<bool, truth_edge>);
  static_assert(std::is_convertible_v<truth_edge, edge>);
  static_assert(!tested<truth_edge>);
  static_assert(!anded<edge, bool>);
  static_assert(!anded<bool, edge>);
  static_assert(!ored<truth_edge, bool>);
  static_assert(!ored<bool, truth_edge>);
  static_assert(!anded<edge, void*>);
  static_assert(anded<edge, variable_handle>);
  static_assert(anded<truth_edge, edge>);
  static_assert(!added<edge, char>);
  static_assert(!added<edge, char32_t>);
  static_assert(!added<edge, void*>);
  static_assert(!added<edge, std::nullptr_t>);
  static_assert(!added<edge, const char*>);
  static_assert(!std::is_convertible_v<bool, edge>);
  static_assert(!std::equality_comparable<edge>);
  static_assert(!sorted<edge>);
  graph_builder g;
  auto x = g.placeholder(dtype::f32), y = g.placeholder(dtype::f32);
  CHECK(is_same_edge(x, x));
  CHECK_FALSE(is_same_edge(x, y));
  CHECK(is_same_edge(edge{}, edge{}));
  CHECK(contains_edge(std::vector{x, y}, y));
  CHECK_FALSE(contains_edge(std::vector{x}, y));
  CHECK(g.nodes().size() == 2); // the errors have added no node
}

TEST_CASE("a literal becomes a number of the edge's type, or an error") {
  graph_builder g;
  auto f16 = g.placeholder(dtype::f16), f32 = g.placeholder(dtype::f32),
       f64 = g.placeholder(dtype::f64), i32 = g.placeholder(dtype::i32),
       i64 = g.placeholder(dtype::i64), u8 = g.placeholder(dtype::u8),
       bf16 = g.placeholder(dtype::bf16), c64 = g.placeholder(dtype::c64),
       condition = g.placeholder(dtype::boolean);
  auto refused = [](const std::string& expected_text, auto&& body) {
    CHECK_THAT(error_text_of(body), Catch::Contains(expected_text));
  };
  refused("the literal true is no f32; write 1", [&] { (void)(f32 * true); });
  refused("the literal false is no i64; write 0", [&] { (void)(i64 == false); });
  refused("the literal true is no c64", [&] { (void)(c64 + true); });
  refused("the literal 3000000000 is no i32", [&] { (void)(i32 + 3'000'000'000); });
  refused("the literal 3e+09 is no i32", [&] { (void)(i32 < 3e9); });
  refused("the literal -1 is no u8", [&] { (void)(u8 - -1); });
  refused("the literal 256 is no u8", [&] { (void)(256 * u8); });
  refused("is no i64", [&] { (void)(i64 + std::numeric_limits<uint64_t>::max()); });
  refused("the literal 0.5 is no i32", [&] { (void)(i32 * 0.5); });
  refused("the literal 16777217 is no f32", [&] { (void)(f32 + 16'777'217); });
  refused("the literal 16777217 is no f32", [&] { (void)(f32 == 16'777'217.0); });
  refused("the literal 9007199254740993 is no f64", [&] { (void)(f64 + 9'007'199'254'740'993); });
  refused("the literal 16777217 is no c64", [&] { (void)(c64 + 16'777'217); });
  refused("the literal 2049 is no f16", [&] { (void)(f16 + 2049); });
  refused("the literal 70000 is no f16", [&] { (void)(f16 * 70'000); });
  refused("the literal 1e+39 is no f32", [&] { (void)(f32 * 1e39); });
  refused("the literal 257 is no bf16", [&] { (void)(bf16 + 257.0); });
  refused("the literal 2 is no bool", [&] { (void)(condition == 2); });
  refused("the literal 3000000000 is no i32", [&] { (void)select(condition, i32, 3'000'000'000); });
  refused("got bool", [&] { (void)sum(f32, {true}); });

  // These literals are exact, or as exact as a decimal can be.
  for (const auto& literal_edge :
       {f32 * 0.1, f32 + 16'777'216, f32 * 1e30, f32 * -1e38, f64 + 9'007'199'254'740'992,
        f16 * 65504, f16 * 1e-3, bf16 * 0.1, i32 + 2'147'483'647, i32 * 2.0, u8 + 255, c64 * 0.5,
        edge{condition == true}, edge{condition == 1},
        f32 * std::numeric_limits<double>::infinity()})
    CHECK(literal_edge.exists());

  auto s = session::local();
  refused("the literal true is no f32", [&] { (void)s.fetch(f32 * 2, {{f32, true}}); });
  refused("the literal 3000000000 is no i32", [&] {
    (void)s.fetch(i32 * 2, {{i32, 3'000'000'000}});
  });
  CHECK(to_scalar<bool>(s.fetch(logical_not(condition), {{condition, true}})) == false);
  CHECK(truths(s.fetch(!condition, {{condition, {true, false}}})) == std::vector{false, true});
}

} // namespace troupe::test::formulas_test
