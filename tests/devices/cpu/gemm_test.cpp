#include "troupe/devices/cpu/gemm.hpp"

#include "tests/support/catch.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/deterministic/deterministic.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace troupe::test::gemm_test {

namespace {

struct extents {
  int64_t m, n, k;
};

template <class T>
std::vector<T> random_values(int64_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> distribution{-1, 1};
  std::vector<T> values(static_cast<size_t>(count));
  for (auto& value : values)
    value = static_cast<T>(distribution(random));
  return values;
}

template <class T>
double largest_error(device* parallel_device, const extents& sizes, bool transpose_a,
                     bool transpose_b) {
  auto [m, n, k] = sizes;
  auto a = random_values<T>(m * k, 1), b = random_values<T>(k * n, 2);
  auto c = std::vector<T>(static_cast<size_t>(m * n), T{NAN});
  auto outcome =
      parallel_device
          ? gemm(*parallel_device, transpose_a, transpose_b, m, n, k, a.data(), b.data(), c.data())
          : gemm(transpose_a, transpose_b, m, n, k, a.data(), b.data(), c.data());
  REQUIRE(outcome.ok());
  double largest = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double expected = 0;
      for (int64_t p = 0; p < k; ++p)
        expected +=
            static_cast<double>(a[static_cast<size_t>(transpose_a ? p * m + i : i * k + p)]) *
            static_cast<double>(b[static_cast<size_t>(transpose_b ? j * k + p : p * n + j)]);
      auto error = std::abs(expected - static_cast<double>(c[static_cast<size_t>(i * n + j)]));
      largest = error <= largest ? largest : error; // NaN stays
    }
  return largest;
}

// The same for long products, by multiplication with a vector from the right: c v = a (b v).
template <class T>
double projected_error(device& on, const extents& sizes, bool transpose_a, bool transpose_b) {
  auto [m, n, k] = sizes;
  auto a = random_values<T>(m * k, 1), b = random_values<T>(k * n, 2);
  auto c = std::vector<T>(static_cast<size_t>(m * n), T{NAN});
  REQUIRE(gemm(on, transpose_a, transpose_b, m, n, k, a.data(), b.data(), c.data()).ok());
  auto times = [](const std::vector<T>& matrix, bool transposed, int64_t rows, int64_t columns,
                  const std::vector<double>& v) {
    std::vector<double> product(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        product[static_cast<size_t>(i)] +=
            static_cast<double>(
                matrix[static_cast<size_t>(transposed ? j * rows + i : i * columns + j)]) *
            v[static_cast<size_t>(j)];
    return product;
  };
  auto v = random_values<double>(n, 3);
  auto expected = times(a, transpose_a, m, k, times(b, transpose_b, k, n, v));
  auto actual = times(c, false, m, n, v);
  double largest = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    auto error = std::abs(expected[i] - actual[i]);
    largest = error <= largest ? largest : error; // NaN stays
  }
  return largest;
}

constexpr extents shapes[] = {
    {1, 1, 1},   {0, 3, 4},     {3, 0, 4},      {3, 4, 0},    {2, 3, 5},    {8, 8, 8},
    {1, 64, 64}, {64, 1, 64},   {64, 64, 1},    {17, 19, 23}, {33, 65, 7},  {100, 3, 9},
    {3, 100, 9}, {150, 70, 40}, {70, 150, 40},  {1, 100, 33}, {100, 1, 33}, {2, 50, 70},
    {50, 2, 70}, {3, 40, 600},  {100, 30, 600}, {2, 1000, 3}};

} // namespace

TEST_CASE("gemm is right for every shape and transposition, on one thread or several") {
  auto cpu = make_cpu_device({.intra_op_threads = 3});
  for (auto* on : {static_cast<device*>(nullptr), cpu.get()})
    for (const auto& sizes : shapes)
      for (bool a : {false, true})
        for (bool b : {false, true}) {
          CAPTURE(sizes.m, sizes.n, sizes.k, a, b, on != nullptr);
          CHECK(largest_error<float>(on, sizes, a, b) < 1e-4);
          CHECK(largest_error<double>(on, sizes, a, b) < 1e-12);
        }
}

TEST_CASE("gemm is right for products large enough for several threads") {
  auto cpu = make_cpu_device({.intra_op_threads = 4});
  CHECK(largest_error<float>(cpu.get(), {300, 200, 250}, false, true) < 1e-3);
  CHECK(largest_error<float>(cpu.get(), {40, 700, 250}, true, false) < 1e-3);
  CHECK(largest_error<double>(cpu.get(), {300, 200, 100}, true, true) < 1e-11);
}

TEST_CASE("gemm is right for products so long that it computes them in blocks") {
  auto cpu = make_cpu_device({.intra_op_threads = 2});
  for (const auto& sizes :
       {extents{64, 50, 200'001}, extents{3, 5000, 5000}, extents{2, 3, 600'001},
        extents{1200, 100, 4300}, extents{100, 6000, 900}})
    for (bool a : {false, true})
      for (bool b : {false, true}) {
        CAPTURE(sizes.m, sizes.n, sizes.k, a, b);
        CHECK(projected_error<float>(*cpu, sizes, a, b) < 1e-1);
        CHECK(projected_error<double>(*cpu, sizes, a, b) < 1e-9);
      }
}

TEST_CASE("gemm stops a long product early when it is told to") {
  auto cpu = make_cpu_device({.intra_op_threads = 2});
  const int64_t m = 800, n = 800, k = 800;
  std::vector<float> a(m * k, 1.0f), b(k * n, 1.0f), c(m * n, -1.0f);
  stop_signal stop;
  stop.raise();
  REQUIRE(gemm(*cpu, false, false, m, n, k, a.data(), b.data(), c.data(), &stop).ok());
  CHECK(std::ranges::count(c, -1.0f) == m * n);
  stop.arm();
  REQUIRE(gemm(*cpu, false, false, m, n, k, a.data(), b.data(), c.data(), &stop).ok());
  CHECK(std::ranges::count(c, 800.0f) == m * n);
}

TEST_CASE("gemm refuses impossible extents") {
  float x = 0;
  CHECK(gemm(false, false, -1, 1, 1, &x, &x, &x).kind() == error_kind::invalid_argument);
  CHECK(gemm(false, false, INT64_MAX, INT64_MAX, 1, &x, &x, &x).kind() ==
        error_kind::invalid_argument);
  CHECK(gemm(false, false, INT64_MAX, 0, 2, &x, &x, &x).kind() == error_kind::invalid_argument);
}

TEMPLATE_TEST_CASE(
    "on a deterministic device a product has the same bits with any number of threads", "", float,
    double) {
  for (auto [m, n, k] : {extents{257, 11, 517},
                         {11, 517, 257},
                         {193, 195, 1003},
                         {3, 1001, 700},
                         {1001, 1, 700},
                         {64, 64, 64}})
    for (bool transpose_a : {false, true}) {
      INFO(m << 'x' << k << " by " << k << 'x' << n);
      auto a = random_values<TestType>(m * k, 1), b = random_values<TestType>(k * n, 2);
      std::vector<TestType> first;
      for (int threads : {1, 2, 3, 8}) {
        auto on = deterministic_view(make_cpu_device({.intra_op_threads = threads}));
        CHECK(on->deterministic());
        std::vector<TestType> c(static_cast<size_t>(m * n));
        REQUIRE(gemm(*on, transpose_a, false, m, n, k, a.data(), b.data(), c.data()));
        if (first.empty())
          first = c;
        CHECK(std::memcmp(c.data(), first.data(), c.size() * sizeof(TestType)) == 0);
      }
    }
}

} // namespace troupe::test::gemm_test
