#include "troupe/ops/special/shared/special_functions.hpp"

#include "troupe/ops/special/shared/incomplete_functions.hpp"
#include "troupe/ops/special/shared/zeta_function.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::ops::special {
namespace {

namespace policies = boost::math::policies;

// Errors become return values; series that converge too slowly are cut off.
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

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

} // namespace

double digamma(double x) {
  if (!std::isfinite(x))
    return x > 0 ? x : no_number;
  return boost::math::digamma(x, quiet{});
}

double hurwitz_zeta(double s, double q) { return zeta_of(s, q); }

double polygamma(double order, double x) {
  if (order == 0)
    return digamma(x);
  return derived_digamma(order, x, [](double argument) {
    int unused;
    return lgamma_r(argument, &unused);
  });
}

double lower_gamma(double a, double x) {
  if (!(a > 0) || !(x >= 0))
    return no_number;
  if (std::isinf(a) || std::isinf(x))
    return std::isinf(a) && std::isinf(x) ? no_number : std::isinf(x) ? 1 : 0;
  if (a > detail::great) // the fraction would reach its limit before it converges
    return x == 0 ? 0 : detail::gamma_of_great(true, a, x);
  return boost::math::gamma_p(a, x, quiet{});
}

double upper_gamma(double a, double x) {
  if (!(a > 0) || !(x >= 0) || std::isinf(a) || std::isinf(x))
    return 1 - lower_gamma(a, x);
  if (a > detail::great)
    return x == 0 ? 1 : detail::gamma_of_great(false, a, x);
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
    return detail::incomplete_beta_of_great(a, b, x);
  return boost::math::ibeta(a, b, x, quiet{});
}

} // namespace troupe::ops::special
