// The regularized incomplete gamma and beta functions, and derivatives, by series and continued
// fractions that need no tables: for GPUs. special_functions.hpp defines the functions.
#pragma once
#include <cmath>
#include <limits>
#include <numbers>

namespace troupe::ops::special {

namespace detail {

inline constexpr double tiny = 1e-300; // replaces 0 in divisors
inline constexpr double precise = 2e-16;
inline constexpr int max_terms = 50'000;

/// A value, and its derivative with respect to a parameter.
struct dual {
  double value = 0, slope = 0;

  constexpr dual operator+(dual b) const { return {value + b.value, slope + b.slope}; }
  constexpr dual operator*(dual b) const {
    return {value * b.value, slope * b.value + value * b.slope};
  }
  constexpr dual operator/(dual b) const {
    return {value / b.value, (slope - value / b.value * b.slope) / b.value};
  }
};

constexpr double value_of(double x) { return x; }
constexpr double value_of(dual x) { return x.value; }
constexpr double slope_of(double) { return 0; }
constexpr double slope_of(dual x) { return x.slope; }

template <class Number>
constexpr Number not_zero(Number x) {
  return std::abs(value_of(x)) < tiny ? Number{tiny} : x;
}

/// The error of Stirling's formula for the logarithm of the gamma function.
template <class LogGamma>
constexpr double stirling_rest(double z, LogGamma log_gamma) {
  if (z < 10)
    return log_gamma(z) - ((z - 0.5) * std::log(z) - z + 0.5 * std::log(2 * std::numbers::pi));
  auto w = 1 / (z * z);
  return (1. / 12 - w * (1. / 360 - w * (1. / 1260 - w * (1. / 1680 - w * (1. / 1188))))) / z;
}

/// log(1 + u) - u. `one_plus_u` is 1 + u, which is exact where u is close to -1.
constexpr double log_beyond_linear(double u, double one_plus_u) {
  if (std::abs(u) > 0.5)
    return std::log(one_plus_u) - u;
  if (std::abs(u) > 0.02)
    return std::log1p(u) - u;
  double sum = 0, power = u;
  for (int k = 2; k <= 10; ++k) {
    power *= -u;
    sum += power / k;
  }
  return sum;
}

/// x^a exp(-x) / gamma(a).
template <class LogGamma>
constexpr double gamma_scale(double a, double x, LogGamma log_gamma) {
  if (a < 1) // the terms below are large and cancel
    return std::exp(a * std::log(x) - x - log_gamma(a));
  auto u = (x - a) / a;
  return std::sqrt(a / (2 * std::numbers::pi)) *
         std::exp(a * log_beyond_linear(u, x / a) - stirling_rest(a, log_gamma));
}

/// The sum of x^k / ((a + 1) ... (a + k)): the lower function times a, divided by its scale.
template <class Number>
constexpr Number gamma_series(Number a, double x) {
  Number sum{1}, term{1}, at = a;
  for (int k = 0; k < max_terms; ++k) {
    at = at + Number{1};
    term = term * (Number{x} / at);
    sum = sum + term;
    if (std::abs(value_of(term)) <= precise * value_of(sum) &&
        std::abs(slope_of(term)) <= precise * std::abs(slope_of(sum)))
      break;
  }
  return sum;
}

/// The upper function divided by its scale: Legendre's continued fraction, by Lentz's method.
template <class Number>
constexpr Number gamma_fraction(Number a, double x) {
  const Number minus{-1};
  auto b = Number{x + 1} + minus * a;
  auto c = Number{1 / tiny};
  auto d = Number{1} / not_zero(b);
  auto fraction = d;
  for (int k = 1; k < max_terms; ++k) {
    auto factor = Number{static_cast<double>(k)} * (a + Number{-static_cast<double>(k)});
    b = b + Number{2};
    d = Number{1} / not_zero(factor * d + b);
    c = not_zero(b + factor / c);
    auto step = c * d;
    fraction = fraction * step;
    if (std::abs(value_of(step) - 1) <= precise && std::abs(slope_of(step)) <= precise)
      break;
  }
  return fraction;
}

/// The smaller tail, or the one that is not nearly 1, as scale * part.value; its derivative for a
/// is scale * part.slope.
struct gamma_tail {
  bool lower = false;
  double scale = 0;
  dual part = {};
};

/// `Number` is double where no derivative is needed. Requires finite a > 0, x > 0.
template <class Number, class LogGamma, class Digamma>
constexpr gamma_tail find_gamma_tail(double a, double x, LogGamma log_gamma, Digamma digamma) {
  gamma_tail tail{x < 1 || x < a, gamma_scale(a, x, log_gamma), {}};
  Number parameter{a};
  if constexpr (requires { parameter.slope; })
    parameter.slope = 1;
  auto part = tail.lower ? gamma_series(parameter, x) : gamma_fraction(parameter, x);
  tail.part = {value_of(part), slope_of(part)};
  if (tail.lower)
    tail.scale /= a;
  if constexpr (requires { parameter.slope; })
    tail.part.slope +=
        tail.part.value * (std::log(x) - (tail.lower ? digamma(a) + 1 / a : digamma(a)));
  return tail;
}

/// For a beyond this limit, too many terms are needed: the first two terms of Temme's expansion are
/// precise enough.
inline constexpr double great = 1e6;

constexpr double gamma_of_great(bool lower, double a, double x) {
  auto u = (x - a) / a, power = log_beyond_linear(u, x / a), eta = std::sqrt(-2 * power);
  if (u < 0)
    eta = -eta;
  auto correction = (std::abs(u) < 1e-4 ? -1. / 3 + u / 12 : 1 / u - 1 / eta) *
                    std::exp(a * power) / std::sqrt(2 * std::numbers::pi * a);
  auto share = eta * std::sqrt(a / 2);
  return lower ? std::erfc(-share) / 2 - correction : std::erfc(share) / 2 + correction;
}

} // namespace detail

/// The lower function, or the upper one. `log_gamma` is a function of double.
template <class LogGamma>
constexpr double incomplete_gamma(bool lower, double a, double x, LogGamma log_gamma) {
  if (!(a > 0) || !(x >= 0))
    return std::numeric_limits<double>::quiet_NaN();
  auto endless_a = std::isinf(a), endless_x = std::isinf(x);
  if (endless_a && endless_x)
    return std::numeric_limits<double>::quiet_NaN();
  if (endless_a || endless_x || x == 0)
    return endless_x == lower ? 1 : 0;
  if (a > detail::great)
    return detail::gamma_of_great(lower, a, x);
  auto none = [](double) { return 0.; };
  auto tail = detail::find_gamma_tail<double>(a, x, log_gamma, none);
  auto value = tail.scale * tail.part.value;
  return tail.lower == lower ? value : 1 - value;
}

/// The derivative of the lower function for a.
template <class LogGamma, class Digamma>
constexpr double incomplete_gamma_slope(double a, double x, LogGamma log_gamma, Digamma digamma) {
  if (x == 0)
    return 0;
  if (!(a > 0) || !(x > 0) || std::isinf(a))
    return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x))
    return 0;
  auto tail = detail::find_gamma_tail<detail::dual>(a, x, log_gamma, digamma);
  if (tail.scale == 0)
    return 0;
  return tail.lower ? tail.scale * tail.part.slope : -tail.scale * tail.part.slope;
}

/// The derivative for alpha of a number drawn from the gamma distribution at a fixed quantile:
/// -d(lower function)/d(alpha) divided by the density.
template <class LogGamma, class Digamma>
constexpr double gamma_sample_slope(double alpha, double x, LogGamma log_gamma, Digamma digamma) {
  if (x == 0)
    return 0;
  if (!(alpha > 0) || !(x > 0) || std::isinf(alpha) || std::isinf(x))
    return std::numeric_limits<double>::quiet_NaN();
  auto tail = detail::find_gamma_tail<detail::dual>(alpha, x, log_gamma, digamma);
  return tail.lower ? -tail.part.slope * x / alpha : tail.part.slope * x;
}

namespace detail {

/// The value for a and b so large that the beta distribution is nearly normal, except for some
/// skewness.
constexpr double incomplete_beta_of_great(double a, double b, double x) {
  auto mean = 1 / (1 + b / a), deviation = mean * std::sqrt((1 - mean) / a);
  if (x == mean)
    return 0.5;
  auto z = (x - mean) / deviation;
  auto share = std::erfc(-z / std::numbers::sqrt2) / 2;
  if (std::abs(z) > 40)
    return share;
  auto skewness = 2 * (1 - 2 * mean) / std::sqrt(a * (1 - mean));
  auto density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  auto corrected = share - density * skewness / 6 * (z * z - 1);
  return corrected < 0 ? 0 : corrected > 1 ? 1 : corrected;
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
constexpr double beta_fraction(double a, double b, double x) {
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), all = d;
  for (int k = 1; k < max_terms; ++k) {
    auto even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    all *= c * d;
    auto odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    all *= c * d;
    if (std::abs(c * d - 1) <= precise)
      break;
  }
  return all;
}

} // namespace detail

/// As incomplete_beta.
template <class LogGamma>
constexpr double incomplete_beta_of(double a, double b, double x, LogGamma log_gamma) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || x == 1)
    return x;
  if (std::isinf(a) || std::isinf(b))
    return std::isinf(a) && std::isinf(b) ? std::numeric_limits<double>::quiet_NaN()
           : std::isinf(b)                ? 1
                                          : 0;
  if ((a < b ? a : b) > 1e10)
    return detail::incomplete_beta_of_great(a, b, x);
  double log_scale = 0, scale = 1;
  if (a < 1 || b < 1) {
    log_scale =
        log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x);
  } else { // combines large terms that cancel before evaluating them
    auto mean = a / (a + b), rest = b / (a + b);
    scale = std::sqrt(a * rest / (2 * std::numbers::pi));
    log_scale = a * detail::log_beyond_linear((x - mean) / mean, x / mean) +
                b * detail::log_beyond_linear((mean - x) / rest, (1 - x) / rest) +
                detail::stirling_rest(a + b, log_gamma) - detail::stirling_rest(a, log_gamma) -
                detail::stirling_rest(b, log_gamma);
  }
  scale *= std::exp(log_scale);
  if (x <= (a + 1) / (a + b + 2))
    return scale * detail::beta_fraction(a, b, x) / a;
  return 1 - scale * detail::beta_fraction(b, a, 1 - x) / b;
}

} // namespace troupe::ops::special
