// Special functions of real numbers that the standard library lacks. They do not throw, and their
// run time is bounded. Arguments for which a function is undefined give NaN.
#pragma once

namespace troupe::ops::special {

/// The derivative of the logarithm of the gamma function.
double digamma(double x);

/// The derivative of order `order` of digamma.
double polygamma(double order, double x);

/// The Hurwitz zeta function: the sum of (q + k)^-s over k = 0, 1, ... It is defined for s > 1, and
/// for negative q where s is an integer.
double hurwitz_zeta(double s, double q);

/// The regularized incomplete gamma functions, for a > 0 and x >= 0; their sum is 1.
double lower_gamma(double a, double x);
double upper_gamma(double a, double x);

/// The regularized incomplete beta function, for a, b > 0 and x in [0, 1].
double incomplete_beta(double a, double b, double x);

} // namespace troupe::ops::special
