// Gradients of which only the greatest elements are sent.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace troupe::test::sparsify_top_k_test {
namespace {

constexpr auto nan = std::numeric_limits<float>::quiet_NaN();

struct model {
  explicit model(std::vector<int64_t> extents) : dims(*shape::make(extents)) {
    rest = g.variable(dtype::f32, dims, "rest");
    gradient = g.placeholder(dtype::f32, partial_shape::unknown(), "gradient");
    k = g.placeholder(dtype::i64, shape{}, "k");
    clear = assign(rest, fill(g, tensor::vector(extents), 0.0f)).node;
    auto top = sparsify_top_k(rest, gradient, k);
    values = top.values;
    positions = top.positions;
    dense = densify_top_k(values, positions, tensor::vector(extents));
    s.run(clear);
  }
  std::vector<tensor> step(const tensor& gradient_value, int64_t count) {
    return s.run({{gradient, gradient_value}, {k, count}}, {values, positions, dense});
  }

  graph_builder g;
  session s = session::local();
  shape dims;
  edge rest, gradient, k, values, positions, dense;
  node* clear = nullptr;
};

std::vector<float> floats(const tensor& input) {
  auto elements = input.values<float>();
  return {elements.begin(), elements.end()};
}

error_kind kind_of(auto act) {
  try {
    act();
  } catch (const error& failure) {
    return failure.kind();
  }
  return error_kind::ok;
}

} // namespace

TEST_CASE("sent and remaining elements add up to all gradients") {
  std::mt19937 dice{7};
  model fixture{{13, 11}};
  std::vector<double> totals(143), sent(143);
  for (int step = 0; step < 20; ++step) {
    auto gradient = *tensor::make(dtype::f32, fixture.dims);
    for (int64_t i = 0; i < 143; ++i) {
      gradient.data<float>()[i] = static_cast<float>(static_cast<int>(dice() % 2001) - 1000) / 64;
      totals[static_cast<size_t>(i)] += gradient.data<float>()[i];
    }
    auto old_rest = floats(fixture.s.fetch(fixture.rest));
    auto outputs = fixture.step(gradient, 9);
    auto values = floats(outputs[0]);
    auto positions = outputs[1].values<int32_t>();
    REQUIRE(values.size() == 9);
    CHECK(std::ranges::is_sorted(positions));
    // They are the greatest elements of the sum, as found by sorting.
    std::vector<size_t> order(143);
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = 0; i < 143; ++i)
      old_rest[i] += gradient.data<float>()[i];
    std::ranges::stable_sort(order, std::greater{},
                             [&](size_t i) { return std::abs(old_rest[i]); });
    order.resize(9);
    std::ranges::sort(order);
    for (size_t i = 0; i < 9; ++i) {
      CHECK(static_cast<size_t>(positions[i]) == order[i]);
      CHECK(values[i] == old_rest[order[i]]);
      sent[order[i]] += values[i];
    }
    auto dense = floats(outputs[2]);
    CHECK(outputs[2].dims() == fixture.dims);
    CHECK(std::ranges::count_if(dense, [](float x) { return x != 0; }) <= 9);
    auto stays = floats(fixture.s.fetch(fixture.rest));
    for (size_t i = 0; i < 143; ++i)
      CHECK(sent[i] + stays[i] == totals[i]); // sums of multiples of 1/64 are exact
  }
}

TEST_CASE("the first of equal magnitudes are sent, and NaN before all others") {
  model fixture{{6}};
  auto outputs = fixture.step(tensor::vector<float>({1, -1, 1, -1, 1, 1}), 3);
  CHECK(floats(outputs[0]) == std::vector<float>{1, -1, 1});
  CHECK(std::ranges::equal(outputs[1].values<int32_t>(), std::vector<int32_t>{0, 1, 2}));
  CHECK(floats(fixture.s.fetch(fixture.rest)) == std::vector<float>{0, 0, 0, -1, 1, 1});
  outputs = fixture.step(tensor::vector<float>({0, 100, 0, 0, nan, 0}), 1);
  CHECK(std::isnan(floats(outputs[0])[0]));
  CHECK(outputs[1].values<int32_t>()[0] == 4);
  CHECK(floats(fixture.s.fetch(fixture.rest)) == std::vector<float>{0, 100, 0, -1, 0, 1});
}

TEST_CASE("all elements may be sent, or none, or those of an empty gradient") {
  model fixture{{4}};
  auto outputs = fixture.step(tensor::vector<float>({1, 0, -3, 2}), 4);
  CHECK(floats(outputs[2]) == std::vector<float>{1, 0, -3, 2});
  CHECK(floats(fixture.s.fetch(fixture.rest)) == std::vector<float>{0, 0, 0, 0});
  outputs = fixture.step(tensor::vector<float>({1, 0, -3, 2}), 0);
  CHECK(outputs[0].elements() == 0);
  CHECK(floats(outputs[2]) == std::vector<float>{0, 0, 0, 0});
  CHECK(floats(fixture.s.fetch(fixture.rest)) == std::vector<float>{1, 0, -3, 2});
  model empty{{0, 3}};
  CHECK(empty.step(*tensor::make(dtype::f32, shape{0, 3}), 0)[2].dims() == shape{0, 3});
}

TEST_CASE("a gradient of another shape, or of too few elements, changes nothing") {
  model fixture{{4}};
  fixture.step(tensor::vector<float>({1, 2, 3, 4}), 0);
  CHECK(kind_of([&] {
          fixture.step(tensor::vector<float>({1, 2, 3}), 1);
        }) == error_kind::invalid_argument);
  CHECK(kind_of([&] {
          fixture.step(tensor::vector<float>({1, 2, 3, 4}), 5);
        }) == error_kind::invalid_argument);
  CHECK(kind_of([&] {
          fixture.step(tensor::vector<float>({1, 2, 3, 4}), -1);
        }) == error_kind::invalid_argument);
  CHECK(floats(fixture.s.fetch(fixture.rest)) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("positions out of range are refused") {
  graph_builder g;
  auto positions = g.placeholder(dtype::i32, {-1});
  auto dense = densify_top_k(g.constant({1.0f, 2.0f}), positions, tensor::vector<int64_t>({2, 2}));
  auto s = session::local();
  CHECK(floats(s.fetch(dense, {{positions, tensor::vector<int32_t>({3, 3})}})) ==
        std::vector<float>{0, 0, 0, 3});
  for (auto position : {-1, 4})
    CHECK(kind_of([&] {
            s.fetch(dense, {{positions, tensor::vector<int32_t>({0, position})}});
          }) == error_kind::invalid_argument);
  CHECK(kind_of([&] {
          s.fetch(dense, {{positions, tensor::vector<int32_t>({0})}});
        }) == error_kind::invalid_argument);
}

} // namespace troupe::test::sparsify_top_k_test
