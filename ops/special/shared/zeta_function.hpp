// The Hurwitz zeta function and the derivatives of digamma, on all devices. All functions are
// templates, because only some compilers can evaluate their calls in constant expressions.
#pragma once
#include <cmath>
#include <limits>

namespace troupe::ops::special {

/// The sum of (a + k)^-s over k = 0, 1, ... by Euler and Maclaurin, for a that is large compared
/// with s.
template <class Real>
constexpr Real zeta_tail(Real s, Real a) {
  // The Bernoulli numbers B_2, B_4, ..., each divided by the factorial of its index.
  constexpr Real bernoulli[] = {
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

/// For s > 1 and q > 0: adds the first terms directly, until the remainder is negligible or
/// decreases slowly enough. Never inlined, because GPU compilers would take a minute.
template <class Real>
__attribute__((noinline)) constexpr Real positive_zeta(Real s, Real q) {
  Real sum = 0;
  for (auto a = q;; a += 1) {
    if (a >= s + 12)
      return sum + zeta_tail(s, a);
    auto term = std::pow(a, -s);
    sum += term;
    if (!(term > sum * 1e-17)) // also where both are infinite
      return sum;
  }
}

/// The sum of (q + k)^-s over k = 0, 1, ...: NaN where it is not defined.
template <class Real>
constexpr Real zeta_of(Real s, Real q) {
  constexpr auto infinity = std::numeric_limits<Real>::infinity(),
                 no_number = std::numeric_limits<Real>::quiet_NaN();
  if (s == 1)
    return infinity;
  if (!(s > 1) || q != q)
    return no_number;
  if (q > 0)
    return positive_zeta(s, q);
  bool is_integer = s == std::floor(s), odd = std::fmod(s, Real{2}) == 1;
  if (q == std::floor(q)) // one term has the base 0
    return is_integer && !odd ? infinity : no_number;
  if (!is_integer)
    return no_number;
  // The terms on the two sides of 0; the left side has finitely many.
  auto above = q - std::floor(q), below = 1 - above;
  auto left_sum = positive_zeta(s, below) - positive_zeta(s, 1 - q);
  return positive_zeta(s, above) + (odd ? -left_sum : left_sum);
}

/// The derivative of digamma of a nonzero order. `log_gamma` computes the logarithm of the gamma
/// function.
template <class Real, class LogGamma>
constexpr Real derived_digamma(Real order, Real x, LogGamma log_gamma) {
  if (!(order > 0) || order != std::floor(order))
    return std::numeric_limits<Real>::quiet_NaN();
  auto zeta = zeta_of(order + 1, x);
  Real sign = std::fmod(order, Real{2}) == 0 ? -1 : 1;
  constexpr Real greatest_factorial = 170;
  if (order <= greatest_factorial)
    return sign * std::tgamma(order + 1) * zeta;
  auto magnitude = std::exp(log_gamma(order + 1) + std::log(std::abs(zeta)));
  return sign * std::copysign(magnitude, zeta);
}

} // namespace troupe::ops::special
