// Gradients of which only the greatest elements travel.
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
  std::vector<tensor> step(const tensor& of, int64_t count) {
    return s.run({{gradient, of}, {k, count}}, {values, positions, dense});
  }

  graph_builder g;
  session s = session::local();
  shape dims;
  edge rest, gradient, k, values, positions, dense;
  node* clear = nullptr;
};

std::vector<float> floats(const tensor& of) {
  auto all = of.values<float>();
  return {all.begin(), all.end()};
}

error_kind kind_of(auto act) {
  try {
    act();
  } catch (const error& why) {
    return why.kind();
  }
  return error_kind::ok;
}

} // namespace

TEST_CASE("what is sent and what stays are together all that came") {
  std::mt19937 dice{7};
  model of{{13, 11}};
  std::vector<double> came(143), sent(143);
  for (int step = 0; step < 20; ++step) {
    auto gradient = *tensor::make(dtype::f32, of.dims);
    for (int64_t i = 0; i < 143; ++i) {
      gradient.data<float>()[i] = static_cast<float>(static_cast<int>(dice() % 2001) - 1000) / 64;
      came[static_cast<size_t>(i)] += gradient.data<float>()[i];
    }
    auto before = floats(of.s.fetch(of.rest));
    auto found = of.step(gradient, 9);
    auto values = floats(found[0]);
    auto positions = found[1].values<int32_t>();
    REQUIRE(values.size() == 9);
    CHECK(std::ranges::is_sorted(positions));
    // They are the greatest of what there was, by another way to find them.
    std::vector<size_t> order(143);
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = 0; i < 143; ++i)
      before[i] += gradient.data<float>()[i];
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return std::abs(before[i]); });
    order.resize(9);
    std::ranges::sort(order);
    for (size_t i = 0; i < 9; ++i) {
      CHECK(static_cast<size_t>(positions[i]) == order[i]);
      CHECK(values[i] == before[order[i]]);
      sent[order[i]] += values[i];
    }
    auto dense = floats(found[2]);
    CHECK(found[2].dims() == of.dims);
    CHECK(std::ranges::count_if(dense, [](float x) { return x != 0; }) <= 9);
    auto stays = floats(of.s.fetch(of.rest));
    for (size_t i = 0; i < 143; ++i)
      CHECK(sent[i] + stays[i] == came[i]); // sums of multiples of 1/64 are exact
  }
}

TEST_CASE("of equal magnitudes the first are sent, and what is not a number goes first") {
  model of{{6}};
  auto found = of.step(tensor::vector<float>({1, -1, 1, -1, 1, 1}), 3);
  CHECK(floats(found[0]) == std::vector<float>{1, -1, 1});
  CHECK(std::ranges::equal(found[1].values<int32_t>(), std::vector<int32_t>{0, 1, 2}));
  CHECK(floats(of.s.fetch(of.rest)) == std::vector<float>{0, 0, 0, -1, 1, 1});
  found = of.step(tensor::vector<float>({0, 100, 0, 0, nan, 0}), 1);
  CHECK(std::isnan(floats(found[0])[0]));
  CHECK(found[1].values<int32_t>()[0] == 4);
  CHECK(floats(of.s.fetch(of.rest)) == std::vector<float>{0, 100, 0, -1, 0, 1});
}

TEST_CASE("all elements may be sent, or none, also of what is empty") {
  model of{{4}};
  auto found = of.step(tensor::vector<float>({1, 0, -3, 2}), 4);
  CHECK(floats(found[2]) == std::vector<float>{1, 0, -3, 2});
  CHECK(floats(of.s.fetch(of.rest)) == std::vector<float>{0, 0, 0, 0});
  found = of.step(tensor::vector<float>({1, 0, -3, 2}), 0);
  CHECK(found[0].elements() == 0);
  CHECK(floats(found[2]) == std::vector<float>{0, 0, 0, 0});
  CHECK(floats(of.s.fetch(of.rest)) == std::vector<float>{1, 0, -3, 2});
  model empty{{0, 3}};
  CHECK(empty.step(*tensor::make(dtype::f32, shape{0, 3}), 0)[2].dims() == shape{0, 3});
}

TEST_CASE("a gradient of another shape, or of too few elements, changes nothing") {
  model of{{4}};
  of.step(tensor::vector<float>({1, 2, 3, 4}), 0);
  CHECK(kind_of([&] {
          of.step(tensor::vector<float>({1, 2, 3}), 1);
        }) == error_kind::invalid_argument);
  CHECK(kind_of([&] {
          of.step(tensor::vector<float>({1, 2, 3, 4}), 5);
        }) == error_kind::invalid_argument);
  CHECK(kind_of([&] {
          of.step(tensor::vector<float>({1, 2, 3, 4}), -1);
        }) == error_kind::invalid_argument);
  CHECK(floats(of.s.fetch(of.rest)) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("positions that there are not are refused") {
  graph_builder g;
  auto positions = g.placeholder(dtype::i32, {-1});
  auto dense = densify_top_k(g.constant({1.0f, 2.0f}), positions, tensor::vector<int64_t>({2, 2}));
  auto s = session::local();
  CHECK(floats(s.fetch(dense, {{positions, tensor::vector<int32_t>({3, 3})}})) ==
        std::vector<float>{0, 0, 0, 3});
  for (auto wrong : {-1, 4})
    CHECK(kind_of([&] {
            s.fetch(dense, {{positions, tensor::vector<int32_t>({0, wrong})}});
          }) == error_kind::invalid_argument);
  CHECK(kind_of([&] {
          s.fetch(dense, {{positions, tensor::vector<int32_t>({0})}});
        }) == error_kind::invalid_argument);
}

} // namespace troupe::test::sparsify_top_k_test
