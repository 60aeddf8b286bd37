#include "troupe/ops/math/special_functions.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace troupe::ops::special {
namespace {

namespace policies = boost::math::policies;

// Errors are values; series that converge too slowly end.
using quiet =
    policies::policy<policies::domain_error<policies::ignore_error>,
                     policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::underflow_error<policies::ignore_error>,
                     policies::denorm_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>,
                     policies::rounding_error<policies::ignore_error>,
                     policies::indeterminate_result_error<policies::ignore_error>,
                     policies::promote_double<false>, policies::max_series_iterations<20'000>>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// The Bernoulli numbers B_2, B_4, ..., each over the factorial of its index.
constexpr double bernoulli[] = {
    1. / 12,
    -1. / 720,
    1. / 30240,
    -1. / 1209600,
    1. / 47900160,
    -691. / 1307674368000,
    1. / 74724249600,
    -3617. / 10670622842880000,
    43867. / 5109094217170944000,
    -174611. / 802857662698291200000.,
};

// The sum of (a + k)^-s over k = 0, 1, ... by Euler and Maclaurin, for a that is large beside s.
double zeta_tail(double s, double a) {
  auto power = std::pow(a, -s);
  auto sum = power * a / (s - 1) + power / 2;
  auto factor = power * s / a; // s (s + 1) ... / a^(s + 1 + 2 j)
  auto up = s;
  for (auto b : bernoulli) {
    sum += b * factor;
    factor *= (up + 1) * (up + 2) / (a * a);
    up += 2;
  }
  return sum;
}

// For s > 1 and q > 0: first terms one by one, until the rest is nothing or falls slowly enough.
double positive_zeta(double s, double q) {
  double sum = 0;
  for (auto a = q;; a += 1) {
    if (a >= s + 12)
      return sum + zeta_tail(s, a);
    auto term = std::pow(a, -s);
    sum += term;
    if (!(term > sum * 1e-17)) // also where both are infinite
      return sum;
  }
}

// For a and b that are so great that the distribution of which this is the share below x is as good
// as normal, but for some skewness.
double incomplete_beta_of_great(double a, double b, double x) {
  auto mean = 1 / (1 + b / a), deviation = mean * std::sqrt((1 - mean) / a);
  if (x == mean)
    return 0.5;
  auto z = (x - mean) / deviation;
  auto share = std::erfc(-z / std::numbers::sqrt2) / 2;
  if (std::abs(z) > 40)
    return share;
  auto skewness = 2 * (1 - 2 * mean) / std::sqrt(a * (1 - mean));
  auto density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return std::clamp(share - density * skewness / 6 * (z * z - 1), 0., 1.);
}

} // namespace

double digamma(double x) {
  if (!std::isfinite(x))
    return x > 0 ? x : no_number;
  return boost::math::digamma(x, quiet{});
}

double hurwitz_zeta(double s, double q) {
  if (s == 1)
    return infinity;
  if (!(s > 1) || std::isnan(q))
    return no_number;
  if (q > 0)
    return positive_zeta(s, q);
  bool whole = s == std::floor(s), odd = std::fmod(s, 2) == 1;
  if (q == std::floor(q)) // one term is that of 0
    return whole && !odd ? infinity : no_number;
  if (!whole)
    return no_number;
  // Terms beyond 0 on both sides, but on the left as many as there are.
  auto above = q - std::floor(q), below = 1 - above;
  auto left = positive_zeta(s, below) - positive_zeta(s, 1 - q);
  return positive_zeta(s, above) + (odd ? -left : left);
}

double polygamma(double order, double x) {
  if (order == 0)
    return digamma(x);
  if (!(order > 0) || order != std::floor(order))
    return no_number;
  auto zeta = hurwitz_zeta(order + 1, x);
  auto sign = std::fmod(order, 2) == 0 ? -1. : 1.;
  constexpr double greatest_factorial = 170;
  if (order <= greatest_factorial)
    return sign * std::tgamma(order + 1) * zeta;
  int unused;
  auto magnitude = std::exp(lgamma_r(order + 1, &unused) + std::log(std::abs(zeta)));
  return sign * std::copysign(magnitude, zeta);
}

double lower_gamma(double a, double x) {
  if (!(a > 0) || !(x >= 0))
    return no_number;
  if (std::isinf(a) || std::isinf(x))
    return std::isinf(a) && std::isinf(x) ? no_number : std::isinf(x) ? 1 : 0;
  return boost::math::gamma_p(a, x, quiet{});
}

double upper_gamma(double a, double x) {
  if (!(a > 0) || !(x >= 0) || std::isinf(a) || std::isinf(x))
    return 1 - lower_gamma(a, x);
  return boost::math::gamma_q(a, x, quiet{});
}

double incomplete_beta(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1))
    return no_number;
  if (x == 0 || x == 1)
    return x;
  if (std::isinf(a) || std::isinf(b))
    return std::isinf(a) && std::isinf(b) ? no_number : std::isinf(b) ? 1 : 0;
  if (std::min(a, b) > 1e10)
    return incomplete_beta_of_great(a, b, x);
  return boost::math::ibeta(a, b, x, quiet{});
}

} // namespace troupe::ops::special
