#include "tests/ops/every_op.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/ops/random/shared/philox.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::test::random_test {

namespace {

class drawing {
public:
  drawing(std::string op, dtype type, int64_t count, int64_t seed, device& on)
      : evaluator_(in_, on) {
    auto dims = *in_.add(
        {.op = "Const",
         .attrs = {{"value", tensor::vector(std::vector<int64_t>{count})}, {"dtype", dtype::i64}}});
    at_ = *in_.add(
        {.op = std::move(op), .inputs = {{dims, 0}}, .attrs = {{"dtype", type}, {"seed", seed}}});
  }
  tensor operator()() { return (*evaluator_.run({}, {{at_, 0}}))[0]; }
  std::vector<double> doubles() {
    auto drawn = converted((*this)(), dtype::f64);
    return {drawn.values<double>().begin(), drawn.values<double>().end()};
  }

private:
  graph in_{library()};
  evaluator evaluator_;
  node* at_ = nullptr;
};

struct moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0;
};

moments moments_of(const std::vector<double>& xs) {
  moments result;
  auto n = static_cast<double>(xs.size());
  for (auto x : xs)
    result.mean += x / n;
  for (auto x : xs)
    result.variance += (x - result.mean) * (x - result.mean) / n;
  for (auto x : xs) {
    auto z = (x - result.mean) / std::sqrt(result.variance);
    result.skew += z * z * z / n;
    result.kurtosis += z * z * z * z / n;
  }
  return result;
}

constexpr std::string_view families[] = {"RandomUniform", "RandomStandardNormal",
                                         "TruncatedNormal"};
constexpr dtype types[] = {dtype::f16, dtype::bf16, dtype::f32, dtype::f64};

} // namespace

// The known answers that Random123 publishes with the algorithm.
TEST_CASE("Philox gives the known answers") {
  using troupe::ops::philox;
  CHECK(philox{0, 0}(0) == philox::block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox{~0ull, ~0ull}(~0ull) ==
        philox::block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox{0x299f31d0a4093822, 0x0370734413198a2e}(0x85a308d3243f6a88) ==
        philox::block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("equal seeds give equal sequences of numbers for any number of threads") {
  auto one_thread = make_cpu_device({.intra_op_threads = 1}),
       four = make_cpu_device({.intra_op_threads = 4});
  for (auto op : families)
    for (auto type : types) {
      drawing a{std::string{op}, type, 100'003, 7, *one_thread},
          b{std::string{op}, type, 100'003, 7, *four};
      auto first = a();
      CHECK(identical(first, b()));
      auto second = a();
      CHECK(identical(second, b()));
      CHECK_FALSE(identical(first, second));
    }
}

TEST_CASE("random numbers differ without a seed, and between seeds") {
  drawing a{"RandomUniform", dtype::f32, 100, 0, small_device()},
      b{"RandomUniform", dtype::f32, 100, 0, small_device()},
      c{"RandomUniform", dtype::f32, 100, 1, small_device()},
      d{"RandomUniform", dtype::f32, 100, 2, small_device()};
  CHECK_FALSE(identical(a(), b()));
  CHECK_FALSE(identical(c(), d()));
}

TEST_CASE("uniform numbers have an even distribution over [0, 1), in every type") {
  for (auto type : types) {
    auto drawn = drawing{"RandomUniform", type, 200'000, 3, small_device()}.doubles();
    CAPTURE(type);
    CHECK(*std::ranges::min_element(drawn) >= 0);
    CHECK(*std::ranges::max_element(drawn) < 1);
    auto result = moments_of(drawn);
    CHECK(result.mean == Approx(0.5).margin(0.005));
    CHECK(result.variance == Approx(1.0 / 12).margin(0.002));
  }
}

TEST_CASE("normal numbers have the moments of their distribution, in every type") {
  for (auto type : types) {
    CAPTURE(type);
    auto normal =
        moments_of(drawing{"RandomStandardNormal", type, 200'000, 3, small_device()}.doubles());
    CHECK(normal.mean == Approx(0).margin(0.01));
    CHECK(normal.variance == Approx(1).margin(0.02));
    CHECK(normal.skew == Approx(0).margin(0.03));
    CHECK(normal.kurtosis == Approx(3).margin(0.1));
    auto drawn = drawing{"TruncatedNormal", type, 200'000, 3, small_device()}.doubles();
    CHECK(std::ranges::all_of(drawn, [](double x) { return std::abs(x) <= 2; }));
    auto truncated = moments_of(drawn);
    CHECK(truncated.mean == Approx(0).margin(0.01));
    CHECK(truncated.variance == Approx(0.7737).margin(0.01)); // 1 - 4 phi(2) / (2 Phi(2) - 1)
  }
}

TEST_CASE("an empty range of whole numbers is refused") {
  CHECK(differences_of(library(), R"(
x = RandomUniformInt(i64[1], i64(3), i64(3))
error invalid_argument "minval must be less than maxval, got 3 and 3"
)",
                       small_device())
            .empty());
}

TEST_CASE("random integers are evenly distributed over any range, the largest included") {
  auto failures = differences_of(library(), R"(
least = RandomUniformInt(i64[1000], i32(-2147483648), i32(-2147483647)) seed=1
fetch least = i32{1000}[-2147483648]
)",
                                 small_device());
  CHECK(failures.empty());
  graph in{library()};
  auto constant = [&](tensor value) {
    auto type = value.type();
    return edge{*in.add({.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}}),
                0};
  };
  auto draw = [&](int64_t from, int64_t to) {
    auto* at = *in.add({.op = "RandomUniformInt",
                        .inputs = {constant(tensor::vector(std::vector<int64_t>{100'000})),
                                   constant(tensor::scalar(from)), constant(tensor::scalar(to))},
                        .attrs = {{"seed", 5}}});
    evaluator graph_evaluator{in, small_device()};
    return (*graph_evaluator.run({}, {{at, 0}}))[0];
  };
  std::vector<int> counts(10);
  auto narrow = draw(-3, 7), unbounded = draw(INT64_MIN, INT64_MAX);
  for (auto value : narrow.values<int64_t>())
    ++counts.at(static_cast<size_t>(value + 3));
  for (auto count : counts)
    CHECK(count == Approx(10'000).epsilon(0.05));
  int negative = 0;
  for (auto value : unbounded.values<int64_t>())
    negative += value < 0;
  CHECK(negative == Approx(50'000).epsilon(0.02));
}

} // namespace troupe::test::random_test
