// Kernels compute large operands by faster methods, which small examples do not reach: results must
// be the same.
#include "tests/ops/every_op.hpp"
#include "tests/support/evaluate.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::test::fast_paths_test {

namespace {

std::vector<double> values_of(const tensor& values) {
  auto wide = converted(values, dtype::f64);
  return {wide.values<double>().begin(), wide.values<double>().end()};
}

/// Runs a text graph: `fast` must equal `exact` up to this fraction of the largest element.
void check_agreement(std::string_view text, double tolerance) {
  graph in{library()};
  auto parsed = parse_text_graph(text, "test", in);
  if (!parsed)
    FAIL(parsed.status().message());
  static const auto on = make_cpu_device({.intra_op_threads = 2});
  evaluator graph_evaluator{in, *on};
  auto outputs = graph_evaluator.run({}, {{in.find("fast"), 0}, {in.find("exact"), 0}});
  if (!outputs)
    FAIL(outputs.status().message());
  REQUIRE((*outputs)[0].dims() == (*outputs)[1].dims());
  auto fast = values_of((*outputs)[0]), exact = values_of((*outputs)[1]);
  REQUIRE(!fast.empty());
  double largest = 0, error = 0;
  for (size_t i = 0; i < fast.size(); ++i) {
    if (std::isnan(fast[i]) || std::isnan(exact[i])) {
      CHECK(std::isnan(fast[i]) == std::isnan(exact[i]));
      continue;
    }
    largest = std::max(largest, std::abs(exact[i]));
    error = std::max(error, std::abs(exact[i] - fast[i]));
  }
  CHECK(error <= tolerance * largest);
}

} // namespace

TEST_CASE("3x3 convolutions of many channels are exact to 1e-5 of the largest element") {
  // Odd extents, so that tiles of Winograd's algorithm extend past the edges.
  constexpr std::string_view operands = R"(
x = RandomUniform(i32[2, 42, 43, 64]) dtype=f32 seed=1 seed2=1
w = RandomUniform(i32[3, 3, 64, 64]) dtype=f32 seed=2 seed2=1
dy = RandomUniform(i32[2, 42, 43, 64]) dtype=f32 seed=3 seed2=1
wide_x = Cast(x) DstT=f64
wide_w = Cast(w) DstT=f64
wide_dy = Cast(dy) DstT=f64
)";
  auto holds = [&](std::string text) { check_agreement(std::string{operands} + text, 1e-5); };
  holds(R"(
fast = Conv2D(x, w) strides=[1, 1, 1, 1] padding="SAME"
exact = Conv2D(wide_x, wide_w) strides=[1, 1, 1, 1] padding="SAME"
)");
  holds(R"(
fast = Conv2DBackpropInput(i32[2, 42, 43, 64], w, dy) strides=[1, 1, 1, 1] padding="SAME"
exact = Conv2DBackpropInput(i32[2, 42, 43, 64], wide_w, wide_dy) strides=[1, 1, 1, 1] padding="SAME"
)");
  holds(R"(
fast = Conv2DBackpropFilter(x, i32[3, 3, 64, 64], dy) strides=[1, 1, 1, 1] padding="SAME"
exact = Conv2DBackpropFilter(wide_x, i32[3, 3, 64, 64], wide_dy) strides=[1, 1, 1, 1] padding="SAME"
)");
}

TEST_CASE("the gradient of an input of few channels is exact to 1e-5 of the largest element") {
  check_agreement(R"(
w = RandomUniform(i32[7, 5, 3, 20]) dtype=f32 seed=2 seed2=1
dy = RandomUniform(i32[3, 8, 10, 20]) dtype=f32 seed=3 seed2=1
wide_w = Cast(w) DstT=f64
wide_dy = Cast(dy) DstT=f64
fast = Conv2DBackpropInput(i32[3, 29, 30, 3], w, dy) strides=[1, 4, 3, 1] padding="SAME"
exact = Conv2DBackpropInput(i32[3, 29, 30, 3], wide_w, wide_dy) strides=[1, 4, 3, 1] padding="SAME"
)",
                  1e-5);
}

TEST_CASE("max pooling picks the first of equal elements, for any number of channels") {
  // Integers are computed one by one. 37 channels are two vectors of floats and a remainder.
  constexpr std::string_view operands = R"(
noise = RandomUniform(i32[3, 9, 11, 37]) dtype=f32 seed=1 seed2=1
tenfold = Mul(noise, f32(10))
x = Floor(tenfold)
more = RandomUniform(i32[3, 5, 6, 37]) dtype=f32 seed=2 seed2=1
hundredfold = Mul(more, f32(100))
dy = Floor(hundredfold)
whole_x = Cast(x) DstT=i32
whole_dy = Cast(dy) DstT=i32
y = MaxPool(x) ksize=[1, 3, 3, 1] strides=[1, 2, 2, 1] padding="SAME"
whole_y = MaxPool(whole_x) ksize=[1, 3, 3, 1] strides=[1, 2, 2, 1] padding="SAME"
)";
  check_agreement(std::string{operands} + R"(
fast = Identity(y)
exact = Identity(whole_y)
)",
                  0);
  check_agreement(std::string{operands} + R"(
fast = MaxPoolGrad(x, y, dy) ksize=[1, 3, 3, 1] strides=[1, 2, 2, 1] padding="SAME"
exact = MaxPoolGrad(whole_x, whole_y, whole_dy) ksize=[1, 3, 3, 1] strides=[1, 2, 2, 1] padding="SAME"
)",
                  0);
}

TEST_CASE("max pooling takes the first NaN of a window as its largest, and gives it the gradient") {
  check_agreement(R"(
x = Fill(i32[1, 1, 4, 20], f32(nan))
y = MaxPool(x) ksize=[1, 1, 4, 1] strides=[1, 1, 4, 1] padding="VALID"
dy = Fill(i32[1, 1, 1, 20], f32(3))
fast = MaxPoolGrad(x, y, dy) ksize=[1, 1, 4, 1] strides=[1, 1, 4, 1] padding="VALID"
none = Fill(i32[1, 1, 3, 20], f32(0))
exact = Concat(i32(2), dy, none)
)",
                  0);
}

TEST_CASE("reductions of long rows and columns have the sums and extremes of doubles") {
  for (auto op : {"Sum", "Max", "Min", "Mean"})
    for (auto axes : {"[0]", "[1]", "[0, 1]"})
      check_agreement("x = RandomUniform(i32[203, 9001]) dtype=f32 seed=1 seed2=1\n"
                      "wide = Cast(x) DstT=f64\n"
                      "fast = " +
                          std::string{op} + "(x, i32" + axes + ")\nexact = " + op + "(wide, i32" +
                          axes + ")\n",
                      1e-6);
}

} // namespace troupe::test::fast_paths_test
