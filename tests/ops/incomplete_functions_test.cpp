#include "troupe/ops/special/shared/incomplete_functions.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

#include "tests/support/catch.hpp"

#include <random>

namespace troupe::test::incomplete_functions_test {

using namespace troupe::ops;

namespace {

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// Parameters from 1e-4 to 1e8, and positions where the functions are neither 0 nor 1.
class arguments {
public:
  explicit arguments(uint64_t seed) : random_(seed) {}

  double parameter() { return std::pow(10, between(-4, 8)); }
  double place(double a) {
    auto is_distant = between(0, 1) < 0.3;
    return is_distant ? a * std::exp(between(-3, 3))
                      : std::max(a + between(-5, 5) * std::sqrt(a), 1e-9);
  }
  double between(double low, double high) {
    return std::uniform_real_distribution<double>{low, high}(random_);
  }

private:
  std::mt19937_64 random_;
};

} // namespace

TEST_CASE("GPUs compute incomplete functions as processors do") {
  auto seed = std::random_device{}();
  CAPTURE(seed);
  arguments drawn{seed};
  for (int i = 0; i < 3000; ++i) {
    auto a = drawn.parameter(), b = drawn.parameter(), x = drawn.place(a),
         share = drawn.between(0, 1);
    CAPTURE(a, b, x, share);
    auto close = [](double actual, double expected) {
      CHECK(actual == Approx(expected).epsilon(1e-8).margin(1e-11));
    };
    close(special::incomplete_gamma(true, a, x, log_gamma), special::lower_gamma(a, x));
    close(special::incomplete_gamma(false, a, x, log_gamma), special::upper_gamma(a, x));
    close(special::incomplete_beta_of(a, b, share, log_gamma),
          special::incomplete_beta(a, b, share));
    if (a > 1e4 || a < 1e-2)
      continue;
    auto step = 1e-5 * a;
    auto slope = special::incomplete_gamma_slope(a, x, log_gamma, special::digamma);
    auto numeric_slope =
        (special::lower_gamma(a + step, x) - special::lower_gamma(a - step, x)) / (2 * step);
    CHECK(slope == Approx(numeric_slope).epsilon(1e-4).margin(1e-7));
    // The density at x converts the slope of the sample to that of the lower function.
    auto density = std::exp((a - 1) * std::log(x) - x - log_gamma(a));
    auto sample_slope = special::gamma_sample_slope(a, x, log_gamma, special::digamma);
    if (density > 1e-200)
      CHECK(sample_slope * density == Approx(-slope).epsilon(1e-6).margin(1e-12));
  }
}

TEST_CASE("GPUs' incomplete functions are NaN where those of processors are") {
  const double edge_cases[] = {-1, 0, 1, INFINITY, NAN};
  for (auto a : edge_cases)
    for (auto x : edge_cases) {
      CAPTURE(a, x);
      auto same = [](double actual, double expected) {
        CHECK((actual == expected || (std::isnan(actual) && std::isnan(expected))));
      };
      if (a == 1 && x == 1)
        continue;
      same(special::incomplete_gamma(true, a, x, log_gamma), special::lower_gamma(a, x));
      same(special::incomplete_gamma(false, a, x, log_gamma), special::upper_gamma(a, x));
      same(special::incomplete_beta_of(a, 2, x, log_gamma), special::incomplete_beta(a, 2, x));
      same(special::incomplete_beta_of(2, a, x, log_gamma), special::incomplete_beta(2, a, x));
    }
}

} // namespace troupe::test::incomplete_functions_test
