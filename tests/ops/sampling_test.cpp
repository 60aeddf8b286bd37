// Random ops with parameters draw from the distributions that they promise.
#include "tests/ops/every_op.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace troupe::test::sampling_test {

namespace {

// A text graph whose node `x` is run repeatedly.
class sampled {
public:
  explicit sampled(std::string_view text, device& on = small_device()) : evaluator_(in_, on) {
    auto parsed = parse_text_graph(text, "test", in_);
    if (!parsed)
      throw std::logic_error{parsed.status().message()};
    x_ = in_.find("x");
  }
  std::vector<tensor> outputs() {
    std::vector<edge> edges;
    for (int i = 0; i < x_->outputs(); ++i)
      edges.push_back({x_, i});
    return *evaluator_.run({}, edges);
  }
  std::vector<double> doubles() {
    auto drawn = converted(outputs()[0], dtype::f64);
    return {drawn.values<double>().begin(), drawn.values<double>().end()};
  }

private:
  graph in_{library()};
  evaluator evaluator_;
  node* x_ = nullptr;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(const std::vector<double>& values) {
  auto middle = mean(values);
  double sum = 0;
  for (auto x : values)
    sum += (x - middle) * (x - middle);
  return sum / static_cast<double>(values.size());
}

// Checks that integers are as frequent as their probabilities: Pearson's test, so far out in the
// tail that fixed seeds pass unless there is an error.
void check_frequencies(const std::vector<double>& drawn, const std::vector<double>& probabilities) {
  std::vector<double> counts(probabilities.size() + 1);
  for (auto x : drawn)
    ++counts[std::min(static_cast<size_t>(x), probabilities.size())];
  double remaining = 1, chi_squared = 0;
  int cells = 0;
  auto add = [&](double p, double count) {
    auto expected = p * static_cast<double>(drawn.size());
    if (expected < 5)
      return;
    chi_squared += (count - expected) * (count - expected) / expected;
    ++cells;
  };
  for (size_t k = 0; k < probabilities.size(); ++k) {
    CHECK((probabilities[k] > 0 || counts[k] == 0));
    add(probabilities[k], counts[k]);
    remaining -= probabilities[k];
  }
  add(remaining, counts.back());
  CHECK(chi_squared < cells + 5 * std::sqrt(2.0 * cells));
}

std::vector<double> poisson(double rate) {
  std::vector<double> likely;
  for (int k = 0; k < 3 * static_cast<int>(rate) + 10; ++k)
    likely.push_back(std::exp(k * std::log(rate) - rate - std::lgamma(k + 1.0)));
  return likely;
}

std::vector<double> log_uniform(int64_t range) {
  std::vector<double> likely;
  for (int64_t k = 0; k < range; ++k)
    likely.push_back(std::log(static_cast<double>(k + 2) / static_cast<double>(k + 1)) /
                     std::log(static_cast<double>(range + 1)));
  return likely;
}

} // namespace

TEST_CASE("equal seeds give equal sequences of samples for any number of threads") {
  auto one_thread = make_cpu_device({.intra_op_threads = 1}),
       four = make_cpu_device({.intra_op_threads = 4});
  for (std::string_view text :
       {"x = RandomGamma(i64[20001], f32[0.3, 1, 7]) seed=3",
        "x = RandomPoisson(i64[20001], f32[0.3, 9, 70]) seed=3",
        "x = RandomPoissonV2(i64[20001], f64[0.3, 9, 70]) seed=3 dtype=i32",
        "x = Multinomial(f32[[0, 1, 2], [3, 0, 0]], i32(30001)) seed=3",
        "v = RandomUniform(i64[30001]) dtype=f32 seed=3\nx = RandomShuffle(v) seed=3",
        "x = LogUniformCandidateSampler(i64[[1]]) num_true=1 num_sampled=99 unique=true "
        "range_max=9999 seed=3",
        "x = LearnedUnigramCandidateSampler(i64[[1]]) num_true=1 num_sampled=99 unique=true "
        "range_max=999 seed=3"}) {
    CAPTURE(text);
    sampled a{text, *one_thread}, b{text, *four};
    auto first = a.outputs(), second = a.outputs();
    CHECK(identical(first[0], b.outputs()[0]));
    CHECK(identical(second[0], b.outputs()[0]));
    CHECK_FALSE(identical(first[0], second[0]));
  }
}

TEST_CASE("stateless ops draw in each run what stateful ops with the same seeds draw first") {
  auto four = make_cpu_device({.intra_op_threads = 4});
  for (auto [stateless_op, stateful_op] :
       {std::pair{"StatelessRandomUniform", "RandomUniform"},
        std::pair{"StatelessRandomNormal", "RandomStandardNormal"},
        std::pair{"StatelessTruncatedNormal", "TruncatedNormal"}})
    for (auto type : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
      auto attr = concat(" dtype=", type);
      sampled a{concat("x = ", stateless_op, "(i64[50001], i64[7, -9])", attr), *four},
          b{concat("x = ", stateful_op, "(i64[50001]) seed=7 seed2=-9", attr)},
          other{concat("x = ", stateless_op, "(i64[50001], i32[7, 9])", attr)};
      auto first = a.outputs();
      CHECK(identical(first[0], b.outputs()[0]));
      CHECK(identical(first[0], a.outputs()[0]));
      CHECK_FALSE(identical(first[0], other.outputs()[0]));
    }
}

TEST_CASE("gamma-distributed numbers have their mean and variance, in every type") {
  for (auto alpha : {0.25, 0.9, 1.0, 4.0, 60.0})
    for (auto type : {dtype::f16, dtype::f32, dtype::f64}) {
      CAPTURE(alpha, type);
      auto drawn = sampled{concat("a = Cast(f64(", alpha, ")) DstT=", type,
                                  "\nx = RandomGamma(i64[60000], a) seed=11")}
                       .doubles();
      CHECK(*std::ranges::min_element(drawn) >= 0);
      CHECK(mean(drawn) == Approx(alpha).epsilon(0.03));
      CHECK(variance(drawn) == Approx(alpha).epsilon(0.06));
    }
  // With alpha 1, exp(-x) is even.
  auto drawn = sampled{"x = RandomGamma(i64[60000], f64(1)) seed=5"}.doubles();
  std::vector<double> tenths;
  for (auto x : drawn)
    tenths.push_back(std::floor(10 * std::exp(-x)));
  check_frequencies(tenths, std::vector<double>(10, 0.1));
}

TEST_CASE("Poisson-distributed numbers have their probabilities, with every method") {
  for (auto rate : {0.4, 4.0, 9.9, 10.0, 37.5, 300.0}) {
    CAPTURE(rate);
    auto text = concat("(i64[40000], f64(", rate, ")) seed=", 13);
    check_frequencies(sampled{"x = RandomPoisson" + text}.doubles(), poisson(rate));
    check_frequencies(sampled{"x = RandomPoissonV2" + text + " dtype=i32"}.doubles(),
                      poisson(rate));
  }
  auto huge = sampled{"x = RandomPoissonV2(i64[10], f64[1e300]) dtype=i32"}.outputs()[0];
  for (auto x : huge.values<int32_t>())
    CHECK(x == INT32_MAX);
}

TEST_CASE("Multinomial draws classes with the probabilities of their logits") {
  auto drawn = sampled{"x = Multinomial(f64[[0, 1, -inf, 2, nan]], i32(40000)) seed=3"}.doubles();
  auto sum = 1 + std::exp(1.0) + std::exp(2.0);
  check_frequencies(drawn, {1 / sum, std::exp(1.0) / sum, 0, std::exp(2.0) / sum, 0});
  sampled integer_logits{"x = Multinomial(i8[[-100, 27]], i32(100)) seed=3 output_dtype=i32"};
  CHECK(mean(integer_logits.doubles()) == 1);
  CHECK(differences_of(library(), R"(
x = Multinomial(f32[[0, 1], [-inf, nan]], i32(2))
fetch x
error invalid_argument "row 1 of logits has no class that is possible"
)",
                       small_device())
            .empty());
}

TEST_CASE("a shuffle keeps all rows, and moves each to every position equally often") {
  sampled shuffle{"x = RandomShuffle(i64[[0, 9], [1, 8], [2, 7], [3, 6], [4, 5]]) seed=3"};
  std::vector<double> first, place_of_last;
  for (int i = 0; i < 5000; ++i) {
    auto rows = shuffle.outputs()[0];
    auto values = rows.values<int64_t>();
    std::set<int64_t> rows_seen;
    for (size_t row = 0; row < 5; ++row) {
      REQUIRE(values[2 * row] + values[2 * row + 1] == 9);
      rows_seen.insert(values[2 * row]);
      if (values[2 * row] == 4)
        place_of_last.push_back(static_cast<double>(row));
    }
    REQUIRE(rows_seen.size() == 5);
    first.push_back(static_cast<double>(values[0]));
  }
  check_frequencies(first, std::vector<double>(5, 0.2));
  check_frequencies(place_of_last, std::vector<double>(5, 0.2));
}

TEST_CASE("candidate samplers draw classes with the probabilities of their distribution") {
  auto drawn = [](std::string_view op, std::string_view attrs) {
    return sampled{concat("x = ", op, "(i64[[0]]) num_true=1 num_sampled=40000 unique=false ",
                          attrs, " seed=17")}
        .doubles();
  };
  check_frequencies(drawn("UniformCandidateSampler", "range_max=7"),
                    std::vector<double>(7, 1 / 7.));
  check_frequencies(drawn("LogUniformCandidateSampler", "range_max=50"), log_uniform(50));
  check_frequencies(drawn("LearnedUnigramCandidateSampler", "range_max=5"),
                    std::vector<double>(5, 0.2));
  check_frequencies(drawn("FixedUnigramCandidateSampler",
                          "range_max=5 num_reserved_ids=1 unigrams=[1, 4, 0, 16] distortion=0.5"),
                    {0, 1 / 7., 2 / 7., 0, 4 / 7.});
  check_frequencies(drawn("FixedUnigramCandidateSampler",
                          "range_max=2 num_shards=2 shard=1 unigrams=[1, 2, 3, 6]"),
                    {0.25, 0.75});
}

TEST_CASE("unique candidates differ, and their expected counts add up to their number") {
  for (std::string_view op : {"UniformCandidateSampler", "LogUniformCandidateSampler",
                              "ThreadUnsafeUnigramCandidateSampler"}) {
    CAPTURE(op);
    std::string true_classes;
    for (int k = 0; k < 100; ++k)
      true_classes += concat(k ? ", " : "", k);
    sampled sampler{concat("x = ", op, "(i64[[", true_classes,
                           "]]) num_true=100 num_sampled=20 unique=true range_max=100 seed=1")};
    double expected = 0;
    for (int run = 0; run < 50; ++run) {
      auto out = sampler.outputs();
      auto classes = out[0].values<int64_t>();
      CHECK(std::set(classes.begin(), classes.end()).size() == 20);
      for (auto count : out[1].values<float>())
        expected += count / 50;
      for (size_t i = 0; i < classes.size(); ++i)
        CHECK(out[2].values<float>()[i] == out[1].values<float>()[static_cast<size_t>(classes[i])]);
    }
    CHECK(expected == Approx(20).epsilon(0.03));
  }
  sampled everything{
      "x = LogUniformCandidateSampler(i64[[0]]) num_true=1 num_sampled=9 unique=true "
      "range_max=9"};
  CHECK(mean(everything.doubles()) == 4);
}

TEST_CASE("a learning sampler draws the classes that it has seen") {
  sampled sampler{
      "x = LearnedUnigramCandidateSampler(i64[[2, 2, 2, 4]]) num_true=4 num_sampled=20000 "
      "unique=false range_max=5 seed=3"};
  for (int run = 0; run < 25; ++run)
    sampler.outputs();
  // 5 at first, and 4 in each of 25 runs.
  check_frequencies(sampler.doubles(), {1 / 105., 1 / 105., 76 / 105., 1 / 105., 26 / 105.});
}

TEST_CASE("samplers refuse impossible parameters") {
  auto refused = [](std::string_view call, std::string_view reason) {
    auto failures = differences_of(
        library(), concat("x = ", call, "\nfetch x\nerror invalid_argument \"", reason, "\"\n"),
        small_device());
    for (const auto& message : failures)
      FAIL_CHECK(message);
  };
  refused("UniformCandidateSampler(i64[[0]]) num_true=1 num_sampled=4 unique=true range_max=3",
          "num_sampled is 4, but there are only 3 unique classes");
  refused("UniformCandidateSampler(i64[[3]]) num_true=1 num_sampled=2 unique=true range_max=3",
          "true class 3 is not in [0, 3)");
  refused("FixedUnigramCandidateSampler(i64[[0]]) num_true=1 num_sampled=1 unique=true range_max=3 "
          "unigrams=[1, 2]",
          "range_max is 3, but 0 reserved and 2 listed classes");
  refused("FixedUnigramCandidateSampler(i64[[0]]) num_true=1 num_sampled=1 unique=true range_max=3",
          "either unigrams or vocab_file must be given");
  refused("RandomGamma(i32[2], f32[1, 0])", "alpha must be positive and finite, got 0");
  refused("RandomPoisson(i32[2], f32[-1])", "a rate must be finite and not negative, got -1");
  refused("StatelessRandomUniform(i32[2], i32[1, 2, 3])", "seed must have two elements");
}

TEST_CASE("a sampler of unique classes gives up on classes that are too improbable") {
  auto failures = differences_of(library(), R"(
x = FixedUnigramCandidateSampler(i64[[0]]) num_true=1 num_sampled=2 unique=true range_max=2 unigrams=[1, 0] seed=1
fetch x
error resource_exhausted "but needs 1 more that differ"
)",
                                 small_device());
  CHECK(failures.empty());
}

} // namespace troupe::test::sampling_test
